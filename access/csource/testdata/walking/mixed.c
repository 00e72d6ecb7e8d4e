// Steps of all kinds in one function: in compound assignments, behind calls, in sizeof, two at a time, and in whiles within loops.
#define N 40
double a[N], b[N], c[N], s;
int w[N];
static int clampi(int v) { return v < 3 ? 3 : v; }
void walking(void)
{
	int k = 0, l = 0, j = 0;
	double *p = c, *q = a;
	for (int i = 0; i < N / 2; i++) {
		a[k++] += b[l++];
		*p++ *= 2;
		a[i] += b[i + 1] + *p;
		b[j++] -= a[i] * *q++ + c[i];
		a[clampi(k)] = b[clampi(i)];
		w[k]++, --w[l];
		(*p)++;
	}
	int t = sizeof *p++ + 1;
	a[t] = *p;
	for (int i = 0, n = N; i < n; i += 3, n -= 1, q = q - 1)
		a[i] += *q + b[n - 1];
	k = 0;
	for (int i = 0; i < 3; i++)
		for (int jj = 0; jj < 4; jj++, k++)
			for (int m = 0; m < 2; m++)
				a[k + m] = w[2 * k + m];
	while (k > 3) { k -= 3; l = k; while (l < k + 2) { b[l] = a[k]; l++; } }
	const double *e = c + N;
	for (const double *r = c + 1; r + 1 < e && r != c + 30; r++)
		a[0] = r[-1] + r[1];
	unsigned long u = N;
	while (u > 0) { --u; b[u] = w[u]; }
	int lo = 0, hi = N - 1;
	while (hi - lo >= 5) { a[lo] = a[hi]; lo += 2; hi -= 1; }
	c[lo] = c[hi];
}
