// Jacobi with two buffers that are swapped behind each step, by pointers to rows.
#define N 9
#define T 5
double A[N][N], B[N][N];
void turns(void)
{
	double (*src)[N] = A, (*dst)[N] = B, (*tmp)[N];
	for (int t = 0; t < T; t++) {
		for (int i = 1; i < N - 1; i++)
			for (int j = 1; j < N - 1; j++)
				dst[i][j] = 0.2 * (src[i][j] + src[i][j-1] + src[i][j+1] + src[i+1][j] + src[i-1][j]);
		tmp = src;
		src = dst;
		dst = tmp;
	}
	for (int i = 0; i < N; i++)
		A[i][0] = src[i][1] + dst[i][2];
}
