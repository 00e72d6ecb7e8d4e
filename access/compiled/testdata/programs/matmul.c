// A product of matrices in blocks, by pointers.
#include <stdlib.h>

#ifndef N
#define N 160
#endif
enum { BLOCK = 32 };

static void block(const float *a, const float *b, float *c) {
  for (int i = 0; i < BLOCK; i++)
    for (int k = 0; k < BLOCK; k++) {
      const float *row = b + k * N;
      float *sum = c + i * N;
      float left = a[i * N + k];
      for (float *end = sum + BLOCK; sum < end; sum++, row++)
        *sum += left * *row;
    }
}

__attribute__((noinline)) void multiply(const float *a, const float *b, float *c) {
  for (int i = 0; i < N; i += BLOCK)
    for (int j = 0; j < N; j += BLOCK)
      for (int k = 0; k < N; k += BLOCK)
        block(a + i * N + k, b + k * N + j, c + i * N + j);
}

int main(void) {
  float *a = calloc(N * N, sizeof *a), *b = calloc(N * N, sizeof *b), *c = calloc(N * N, sizeof *c);
  for (int i = 0; i < N * N; i++)
    a[i] = b[i] = i % 5;
  multiply(a, b, c);
  return c[1] < 0;
}
