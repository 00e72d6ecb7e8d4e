// A wave equation with three buffers that rotate, in a while.
#define N 20
double before[N], now[N], next[N];
static void step(const double *a, const double *b, double *c, int n)
{
	for (int i = 1; i < n - 1; i++)
		c[i] = 2 * b[i] - a[i] + b[i-1] + b[i+1];
}
void turns(void)
{
	double *p = before, *q = now, *r = next;
	int t = 8;
	while (t--) {
		step(p, q, r, N);
		double *first = p;
		p = q;
		q = r;
		r = first;
	}
	step(q, r, p, N - 3);
}
