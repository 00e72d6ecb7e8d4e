// Gauss's elimination and substitution by rows, and the bands of a tridiagonal system in one array.
#define N 8
double a[N][N], b[N], x[N], bands[3 * N];
double *const lower = bands, *const diagonal = bands + N, *const upper = &bands[2 * N];

void pointers(void)
{
	for (int k = 0; k < N; k++) {
		const double *pivot = a[k];
		for (int i = k + 1; i < N; i++) {
			double *row = a[i], f = row[k] / pivot[k];
			row[k] = f;
			for (int j = k + 1; j < N; j++)
				row[j] -= f * pivot[j];
			b[i] -= f * b[k];
		}
	}
	double *end = &x[N - 1];
	for (int i = 0; i < N; i++) {
		const double *row = a[N - 1 - i];
		double s = b[N - 1 - i];
		for (int j = 0; j < i; j++)
			s -= row[N - 1 - j] * end[-j];
		end[-i] = s / row[N - 1 - i];
	}
	for (unsigned i = 1; i < N; i++) {
		double m = lower[i] / diagonal[i - 1];
		diagonal[i] -= m * upper[i - 1];
		b[i] -= m * *(b + i - 1);
	}
	for (unsigned i = N - 1; i-- > 0;) {
		double *at = b + i;
		*at = (at[0] - upper[i] * at[1]) / diagonal[i];
	}
}

void plain(void)
{
	for (int k = 0; k < N; k++)
		for (int i = k + 1; i < N; i++) {
			double f = a[i][k] / a[k][k];
			a[i][k] = f;
			for (int j = k + 1; j < N; j++)
				a[i][j] -= f * a[k][j];
			b[i] -= f * b[k];
		}
	for (int i = 0; i < N; i++) {
		double s = b[N - 1 - i];
		for (int j = 0; j < i; j++)
			s -= a[N - 1 - i][N - 1 - j] * x[N - 1 - j];
		x[N - 1 - i] = s / a[N - 1 - i][N - 1 - i];
	}
	for (unsigned i = 1; i < N; i++) {
		double m = bands[i] / bands[N + i - 1];
		bands[N + i] -= m * bands[2 * N + i - 1];
		b[i] -= m * b[i - 1];
	}
	for (unsigned i = N - 1; i-- > 0;)
		b[i] = (b[i] - bands[2 * N + i] * b[i + 1]) / bands[N + i];
}
