#include <math.h>
#define N 12
#define K 3
#define D 2
double p[N][D], c[K][D], dist[N], sum[K][D];
static double sq(double a, double b) { return (a - b) * (a - b); }
static double near(const double *a, const double *b) { double s = 0; for (int d = 0; d < D; d++) s += sq(a[d], b[d]); return s; }
void kernel(void) { for (int i = 0; i < N; i++) { dist[i] = 1e30; for (int k = 0; k < K; k++) dist[i] = fmin(dist[i], near(p[i], c[k])); } for (int k = 0; k < K; k++) for (int d = 0; d < D; d++) { for (int i = 0; i < N; i++) sum[k][d] += sqrt(dist[i]) * p[i][d]; c[k][d] -= sq(sum[k][d], c[k][d]); } }
