// A part of a matrix, packed into a buffer and back, as matrix products do with their panels.
#define M 12
#define N 10
#define MR 4
double a[M][N], panel[M * N], c[M][N], half[M * N / 2];

void walking(void)
{
	int k = 0;
	for (int i = 0; i < M; i += MR)
		for (int j = 0; j < N; j++)
			for (int r = 0; r < MR; r++)
				panel[k++] = a[i + r][j];
	int at = 0;
	for (int i = 0; i < M; i += MR) {
		for (int j = 0; j < N; j++, at += MR)
			for (int r = 0; r < MR; r++)
				c[i + r][j] += panel[at + r];
	}
	unsigned n = 0;
	for (int i = 1; i < M; i += 2)
		for (int j = 0; j < N; ++j) {
			half[n] = a[i][j];
			n = n + 1;
		}
	unsigned long down = M * N / 2;
	for (int i = 0; i < M * N / 2; i++)
		panel[i] += half[--down];
}

void plain(void)
{
	for (int i = 0; i < M / MR; i++)
		for (int j = 0; j < N; j++)
			for (int r = 0; r < MR; r++)
				panel[i * N * MR + j * MR + r] = a[MR * i + r][j];
	for (int i = 0; i < M / MR; i++)
		for (int j = 0; j < N; j++)
			for (int r = 0; r < MR; r++)
				c[MR * i + r][j] += panel[i * N * MR + j * MR + r];
	for (int i = 0; i < M / 2; i++)
		for (int j = 0; j < N; j++)
			half[N * i + j] = a[2 * i + 1][j];
	for (int i = 0; i < M * N / 2; i++)
		panel[i] = half[M * N / 2 - 1 - i] + panel[i];
}
