#include <stdint.h>
#define M 4
#define N 6
#define K 32
#define B 8
typedef struct { float d; int8_t q[B]; } blk;
blk a[M][K / B], bt[N][K / B]; float c[M][N];
static int32_t dot(const int8_t *x, const int8_t *y) { int32_t s = 0; for (int i = 0; i < B; i++) s += x[i] * y[i]; return s; }
void kernel(void) { for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { float s = 0; for (int k = 0; k < K / B; k++) s += a[i][k].d * bt[j][k].d * (float)dot(a[i][k].q, bt[j][k].q); c[i][j] += s * c[i][j]; } }
