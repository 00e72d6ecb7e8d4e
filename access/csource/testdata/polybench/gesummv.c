/* gesummv: y = alpha*A*x + beta*B*x. */
#ifndef N
#define N 1300
#endif

double A[N][N], B[N][N], tmp[N], x[N], y[N];

void gesummv(double alpha, double beta)
{
	int i, j;
#pragma scop
	for (i = 0; i < N; i++) {
		tmp[i] = 0.0;
		y[i] = 0.0;
		for (j = 0; j < N; j++) {
			tmp[i] = A[i][j] * x[j] + tmp[i];
			y[i] = B[i][j] * x[j] + y[i];
		}
		y[i] = alpha * tmp[i] + beta * y[i];
	}
#pragma endscop
}
