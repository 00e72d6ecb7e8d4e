// A product of a sparse matrix, in rows, and a vector.
#include <stdlib.h>

struct csr {
  int rows;
  int *start, *column;
  double *value;
};

__attribute__((noinline)) void product(const struct csr *m, const double *x, double *y) {
  for (int i = 0; i < m->rows; i++) {
    double sum = 0;
    for (int k = m->start[i]; k < m->start[i + 1]; k++)
      sum += m->value[k] * x[m->column[k]];
    y[i] = sum;
  }
}

#ifndef ROWS
#define ROWS 40000
#endif
enum { IN_ROW = 9 };

int main(void) {
  struct csr m = {ROWS, malloc(sizeof(int) * (ROWS + 1)), malloc(sizeof(int) * ROWS * IN_ROW),
                  malloc(sizeof(double) * ROWS * IN_ROW)};
  double *x = malloc(sizeof(double) * ROWS), *y = malloc(sizeof(double) * ROWS);
  unsigned seed = 1;
  for (int i = 0; i < ROWS; i++) {
    m.start[i] = i * IN_ROW;
    x[i] = i;
    for (int k = 0; k < IN_ROW; k++) {
      seed = seed * 1664525u + 1013904223u;
      m.column[i * IN_ROW + k] = (seed >> 8) % ROWS;
      m.value[i * IN_ROW + k] = k;
    }
  }
  m.start[ROWS] = ROWS * IN_ROW;
  product(&m, x, y);
  return y[0] < 0;
}
