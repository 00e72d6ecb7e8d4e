// The loops of the reference BLAS in C: increments, pointers as parameters, whiles.
#define N 24
double x[3 * N], y[2 * N], a[N][N], d[N];

static double dot(int n, const double *x, int incx, const double *y, int incy)
{
	double s = 0;
	int i, ix = 0, iy = 0;
	if (incx < 0)
		ix = (-n + 1) * incx;
	for (i = 0; i < n; i++) {
		s += x[ix] * y[iy];
		ix += incx;
		iy += incy;
	}
	return s;
}

static void axpy(int n, double alpha, const double *x, double *y)
{
	while (n > 0) {
		*y++ += alpha * *x++;
		n--;
	}
}

static void scale(double *p, const double *end, double by)
{
	for (; p < end; p++)
		*p *= by;
}

static void transposed(const double *from, double *to)
{
	for (int i = 0; i < N; i++, to += 1 - N * N)
		for (int j = 0; j < N; j++, to += N)
			*to = *from++;
}

void walking(void)
{
	d[0] = dot(N, x, 3, y, 2);
	d[1] = dot(N, x, -3, y, 1);
	d[2] = dot(N, a[1], 1, &a[2][0], 1);
	for (int i = 0; i < N; i++)
		axpy(N - i, 2, a[i], y + i);
	scale(a[3] + 1, a[3] + N, 2);
	scale(x, x + 3 * N, 2);
	transposed((double *)a, (double *)a);
	int i = 0;
	while (i < N) {
		d[i] = a[i][N - 1 - i];
		++i;
	}
}

void plain(void)
{
	for (int i = 0; i < N; i++)
		x[3 * i] * y[2 * i];
	d[0] = 0;
	for (int i = 0; i < N; i++)
		x[3 * (N - 1 - i)] * y[i];
	d[1] = 0;
	for (int i = 0; i < N; i++)
		a[1][i] * a[2][i];
	d[2] = 0;
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N - i; j++)
			y[i + j] = 2 * a[i][j] + y[i + j];
	for (int i = 1; i < N; i++)
		a[3][i] *= 2;
	for (int i = 0; i < 3 * N; i++)
		x[i] *= 2;
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			a[j][i] = a[i][j];
	for (int i = 0; i < N; i++)
		d[i] = a[i][N - 1 - i];
}
