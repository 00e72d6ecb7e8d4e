// Pointers that are given their value later, as in C before 1999.
#define N 12
double m[N][N], v[N], w[N], flat[N * N];

static double dot(int n, double *x, double *y)
{
	double s, *p, *q;
	int i;
	s = 0;
	p = x;
	for (i = 0; i < n; i++) {
		q = y + i;
		s += p[i] * *q;
	}
	return s;
}

void pointers(void)
{
	double *row, *up, *last;
	int i, j;
	last = m[N - 1];
	for (i = 1; i < N; i++) {
		row = m[i];
		up = row - 0;
		for (j = 0; j < N; j++) {
			double *cell;
			cell = &row[j];
			*cell += last[j] * v[i];
			if (j > i) {
				double *mirror;
				mirror = &m[j][i];
				*mirror = up[j] - *cell;
			}
		}
		w[i] = dot(i, row, m[i - 1]);
	}
	w[0] = dot(N, v, w);
}

void plain(void)
{
	int i, j;
	double s;
	for (i = 1; i < N; i++) {
		for (j = 0; j < N; j++) {
			m[i][j] += m[N - 1][j] * v[i];
			if (j > i)
				m[j][i] = m[i][j] - m[i][j];
		}
		for (j = 0; j < i; j++)
			s += m[i][j] * m[i - 1][j];
		w[i] = s;
	}
	for (j = 0; j < N; j++)
		s += v[j] * w[j];
	w[0] = s;
}
