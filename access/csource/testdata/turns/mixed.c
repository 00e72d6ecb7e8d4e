// Buffers that take turns in all sorts of loops.
double a[40], b[40];
#define SWAP(x, y) do { double *t_ = (x); (x) = (y); (y) = t_; } while (0)
static void ex(double *x, double *y, int n)
{
	double *t;
	for (int i = 0; i < n; i++) {
		t = x;
		x = y;
		y = t;
		x[i] = y[i];
	}
}
void turns(void)
{
	{ ex(a, b, 5); ex(b, a, 4); double *p = a; ex(p + 1, b, 3); }
	{ double *p = a, *q = b; for (int t = 0; t < 6; t++) { if (t == 3) continue; double *r = p; p = q; q = r; p[t] = q[t]; } p[0] = 1; }
	{ int k = 0; double *p = a; for (int t = 0; t < 9; t++) { p[k] = 1; k = 3 - k; p = k ? a + 2 : b; } p[k] = 2; }
	{ double *p = a + 5, *q = a; int d = p - q; while (d-- > 0) { *q++ = *p; } for (; p - q < 8; p++) b[p - q] = 1; }
	{ double *p = a; for (int t = 0; t < 4; t++) { double *q = p; p = t & 1 ? a + t : b + t; *q = *p; } *p = 3; }
	{ double *s = a, *d = b; for (int t = 0; t < 3; t++) for (int u = 0; u < 2; u++) { for (int i = 0; i < 4; i++) { *d++ = s[i]; } d -= 4; double *x = s; s = d; d = x; } s[9] = 1; }
	{ int k = 0; for (int i = 0; i < 6; i++) { int old = k; k = i % 3 == 1 ? old + 2 : old + 1; a[old] = b[k]; } a[k] = 1; }
	{ long n = 4; double *p = a; while (n--) { long m = n; while (m-- > 0) p[m] += b[n]; p += n; } }
	{ double *p = a, *q = b; for (int t = 10; t > 0; t -= 3) { p[t] = q[t - 1]; double *r = p; p = q; q = r; } for (unsigned u = 9; u-- > 2;) { p[u] = q[u]; double *r = p; p = q; q = r; } *p = 1; }
	{ double *p = a, *q = b; for (int l = 0; l < 2; l++) { for (int t = 0; t < 5; t++) { for (int i = 1; i < 4 + l; i++) p[i] = q[i - 1] + q[i + 1]; SWAP(p, q); } q[l] = 1; } }
	{ for (int i = 0; i < 6; i++) { int lo = i, hi = 12 - i; while (lo < hi--) a[hi] = b[lo++]; } }
}
