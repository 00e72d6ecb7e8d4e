// Loops that count down in their conditions.
#define N 16
double a[N], b[N], c[N];
static void copy(double *to, const double *from, unsigned n)
{
	while (n--)
		*to++ = *from++;
}
void turns(void)
{
	int n = N;
	while (n--)
		a[n] = b[n];
	n = N;
	while (--n)
		a[n - 1] = b[n];
	for (n = 5; n--;)
		c[n] = 1;
	n = N - 1;
	do
		c[n] = a[n];
	while (n-- > 3);
	c[n] = 0;
	int i = 0;
	while (i++ < 7)
		b[i] = a[i - 1];
	b[i] = 2;
	copy(a, b, N);
	copy(a + 3, c + 1, 5);
	double *p = a + N;
	while (p-- != a)
		*p = 1;
}
