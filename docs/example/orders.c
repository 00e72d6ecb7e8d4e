// A product of matrices in two orders of its loops, and in tiles.
//
//	bench sim --program docs/example/orders.c --function ijk
//	bench sim --program docs/example/orders.c --function tiled -D T=16

#ifndef N
#define N 600
#endif
#ifndef T
#define T 32
#endif
#define MIN(a, b) ((a) < (b) ? (a) : (b))

double A[N][N], B[N][N], C[N][N];

void ijk(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        C[i][j] += A[i][k] * B[k][j];
}

void ikj(void) {
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++)
        C[i][j] += A[i][k] * B[k][j];
}

void tiled(void) {
  for (int kk = 0; kk < N; kk += T)
    for (int jj = 0; jj < N; jj += T)
      for (int i = 0; i < N; i++)
        for (int k = kk; k < MIN(kk + T, N); k++)
          for (int j = jj; j < MIN(jj + T, N); j++)
            C[i][j] += A[i][k] * B[k][j];
}
