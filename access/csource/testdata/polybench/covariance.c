/* covariance: covariance of the columns of data. */
#ifndef M
#define M 1200
#endif
#ifndef N
#define N 1400
#endif

double cov[M][M], data[N][M], mean[M];

void covariance(double points)
{
	int i, j, k;
#pragma scop
	for (j = 0; j < M; j++) {
		mean[j] = 0.0;
		for (i = 0; i < N; i++)
			mean[j] += data[i][j];
		mean[j] /= points;
	}
	for (i = 0; i < N; i++)
		for (j = 0; j < M; j++)
			data[i][j] -= mean[j];
	for (i = 0; i < M; i++)
		for (j = i; j < M; j++) {
			cov[i][j] = 0.0;
			for (k = 0; k < N; k++)
				cov[i][j] += data[k][i] * data[k][j];
			cov[i][j] /= (points - 1.0);
			cov[j][i] = cov[i][j];
		}
#pragma endscop
}
