// Subscripts and bounds by how far pointers are from each other.
#define N 15
double a[N], b[N], m[4][N];
void turns(void)
{
	const double *end = a + N;
	for (double *p = a; p < end; p++)
		b[p - a] = *p;
	for (double *p = a + 1; p + 1 != end; p++) {
		long i = p - a;
		m[i - (p - a)][i] = a[i] + b[end - p];
		if (p > a + 5 && p - a != 9)
			b[i]++;
	}
	for (int r = 0; r < 4; r++) {
		double *row = m[r], *last = &m[r][N - 1];
		for (int j = 0; j < last - row; j += 2)
			row[j] = *last;
	}
}
