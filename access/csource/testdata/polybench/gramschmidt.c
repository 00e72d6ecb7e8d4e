/* gramschmidt: A = Q*R, by the modified Gram and Schmidt. */
#include <math.h>

#ifndef M
#define M 1000
#endif
#ifndef N
#define N 1200
#endif

double A[M][N], Q[M][N], R[N][N];

void gramschmidt(void)
{
	double norm;
	int i, j, k;
#pragma scop
	for (k = 0; k < N; k++) {
		norm = 0.0;
		for (i = 0; i < M; i++)
			norm += A[i][k] * A[i][k];
		R[k][k] = sqrt(norm);
		for (i = 0; i < M; i++)
			Q[i][k] = A[i][k] / R[k][k];
		for (j = k + 1; j < N; j++) {
			R[k][j] = 0.0;
			for (i = 0; i < M; i++)
				R[k][j] += Q[i][k] * A[i][j];
			for (i = 0; i < M; i++)
				A[i][j] = A[i][j] - Q[i][k] * R[k][j];
		}
	}
#pragma endscop
}
