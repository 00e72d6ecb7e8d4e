// A product of matrices by rows, with the pointers that hand-tuned code has.
#define N 9
#define M 7
#define K 5
double A[N][K], B[K][M], C[N][M], flat[N * M];

void pointers(void)
{
	for (int i = 0; i < N; i++) {
		double *restrict c = C[i];
		const double *a = &A[i][0];
		for (int j = 0; j < M; j++)
			c[j] = 0;
		for (int k = 0; k < K; k++) {
			const double aik = a[k];
			const double *const restrict b = B[k];
			for (int j = 0; j < M; j++)
				c[j] += aik * b[j];
		}
		double *out = flat + i * M;
		for (int j = 0; j < M; j++)
			*(out + j) = *(c + j);
	}
}

void plain(void)
{
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < M; j++)
			C[i][j] = 0;
		for (int k = 0; k < K; k++) {
			double aik = A[i][k];
			for (int j = 0; j < M; j++)
				C[i][j] += aik * B[k][j];
		}
		for (int j = 0; j < M; j++)
			flat[i * M + j] = C[i][j];
	}
}
