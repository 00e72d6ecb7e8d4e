// Reversals by two indices, and by two pointers, which meet in the middle.
#define N 51
double a[N], b[N + 1], c[N];

static void reverse(double *lo, double *hi)
{
	while (lo < hi) {
		double t = *lo;
		*lo++ = *hi;
		*hi-- = t;
	}
}

void walking(void)
{
	for (int i = 0, j = N - 1; i < j; i++, j--) {
		double t = a[i];
		a[i] = a[j];
		a[j] = t;
	}
	for (double *p = b, *q = b + N; p < q; ++p, --q) {
		double t = *p;
		*p = *q;
		*q = t;
	}
	int i, j;
	for (i = 0, j = N - 1; i < N; i++, j--)
		c[i] = a[j];
	reverse(c + 3, &c[N - 4]);
	int lo = 0, hi = N;
	while (lo + 3 <= hi) {
		b[lo] += b[hi];
		lo += 2;
		hi -= 3;
	}
	for (unsigned u = 0, v = N; u < v; u++, v -= 2)
		b[v] = b[u];
}

void plain(void)
{
	for (int i = 0; i < N / 2; i++) {
		double t = a[i];
		a[i] = a[N - 1 - i];
		a[N - 1 - i] = t;
	}
	for (int i = 0; i < (N + 1) / 2; i++) {
		double t = b[i];
		b[i] = b[N - i];
		b[N - i] = t;
	}
	for (int i = 0; i < N; i++)
		c[i] = a[N - 1 - i];
	for (int i = 0; i < (N - 6) / 2; i++) {
		double t = c[3 + i];
		c[3 + i] = c[N - 4 - i];
		c[N - 4 - i] = t;
	}
	for (int i = 0; 2 * i + 3 <= N - 3 * i; i++)
		b[2 * i] += b[N - 3 * i];
	for (int i = 0; i < N - 2 * i; i++)
		b[N - 2 * i] = b[i];
}
