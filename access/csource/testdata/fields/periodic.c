/* A periodic stencil whose neighbours are chosen by ternaries. */
#define N 23
double a[N][N], b[N][N];
void kernel(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			b[i][j] = a[i + 1 < N ? i + 1 : 0][j] + a[i > 0 ? i - 1 : N - 1][j] + a[i][j + 1 == N ? 0 : j + 1] + a[i][j ? j - 1 : N - 1];
}
