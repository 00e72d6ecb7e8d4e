// A 5-point stencil over arrays from malloc, whose shape is in a struct.
#include <stdlib.h>

struct grid {
  int rows, columns;
  double center, side;
  double *from, *to;
};

__attribute__((noinline)) void step(const struct grid *g) {
  const double *from = g->from;
  double *to = g->to;
  long n = g->columns;
  for (long i = 1; i < g->rows - 1; i++)
    for (long j = 1; j < n - 1; j++)
      to[i * n + j] = g->center * from[i * n + j] +
                      g->side * (from[i * n + j - 1] + from[i * n + j + 1] +
                                 from[(i - 1) * n + j] + from[(i + 1) * n + j]);
}

#ifndef N
#define N 700
#endif

int main(void) {
  struct grid g = {N, N, 0.5, 0.125, malloc(sizeof(double) * N * N), malloc(sizeof(double) * N * N)};
  for (long i = 0; i < N * N; i++)
    g.from[i] = i % 7;
  step(&g);
  return g.to[N + 1] < 0;
}
