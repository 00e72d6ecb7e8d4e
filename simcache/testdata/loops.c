/* The golden traces as a program, for Cachegrind: loops r|c|t|u, or 0 for none. */
#include <stdint.h>
#include <sys/mman.h>

enum { n = 4000 };

static volatile int *array(uintptr_t at) {
  return mmap((void *)at, 1 << 26, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(int argc, char **argv) {
  volatile int *a = array(0x10000000), *b = array(0x20000000);
  int sum = 0;
  uint64_t state = 42;
  switch (argc > 1 ? argv[1][0] : 0) {
  case 'r':
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) sum += a[i * n + j];
    break;
  case 'c':
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) sum += a[i * n + j];
    break;
  case 't':
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) b[j * n + i] = a[i * n + j];
    break;
  case 'u':
    for (int i = 0; i < 16000000; i++) {
      uint64_t z = state += 0x9E3779B97F4A7C15;
      z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
      z = (z ^ z >> 27) * 0x94D049BB133111EB;
      sum += a[(z ^ z >> 31) >> 40];
    }
  }
  return sum & 1;
}
