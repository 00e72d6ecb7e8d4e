// Triangles and bands by a pointer of their own to each row, and steps that conditions on the loops' variables do not change.
#define N 14
double packed[N][N], full[N][N], diagonal[N], x[N];

void walking(void)
{
	for (int i = 0; i < N; i++) {
		double *p = packed[i], *q = &full[i][i];
		for (int j = i; j < N; j++)
			*p++ = *q++;
		while (p > packed[i])
			x[i] += *--p;
	}
	double *d = diagonal;
	double *f = (double *)full;
	for (int i = 0; i < N; i++) {
		if (i > 3)
			*d = *f;
		else
			*d += 1;
		if (i == 5)
			x[i] = f[0];
		d++;
		f += N + 1;
	}
	int at = 0;
	for (int i = 0; i < N; i++, at++) {
		if (i == 3)
			continue;
		if (i > 4 && i < 8) {
			x[at] = 1;
			continue;
		}
		x[at] += diagonal[i];
	}
	int n = N;
	for (int i = 0; i < n; i++, n--)
		x[i] = x[n - 1];
	int from = 2;
	if (n < 10)
		from += 3;
	for (int i = 0; i < 4; i++)
		x[from++] = i;
	int lo = 0;
	for (int b = 0; b < N; b += 5) {
		int hi = b + 5 < N ? b + 5 : N;
		int k = 0;
		for (int i = b; i < hi; i++)
			diagonal[k++] = x[lo];
		lo += 1;
		x[k - 1] = 2;
	}
}
