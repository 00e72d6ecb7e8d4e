// Quicksort, which calls itself.
#include <stdlib.h>

__attribute__((noinline)) void sort(int *from, int *to) {
  while (to - from > 1) {
    int pivot = from[(to - from) / 2];
    int *left = from, *right = to - 1;
    while (left <= right) {
      while (*left < pivot)
        left++;
      while (*right > pivot)
        right--;
      if (left <= right) {
        int other = *left;
        *left++ = *right;
        *right-- = other;
      }
    }
    sort(from, right + 1);
    from = left;
  }
}

enum { N = 200000 };

int main(void) {
  int *all = malloc(sizeof *all * N);
  unsigned seed = 3;
  for (int i = 0; i < N; i++) {
    seed = seed * 1664525u + 1013904223u;
    all[i] = seed >> 4;
  }
  sort(all, all + N);
  return all[0] > all[N - 1];
}
