double a[12][8], b[8], c[12], x[12]; float w[12];
static double dot(const double *p, const double *q, int n) { double s = 0; for (int i = 0; i < n; i++) s += p[i] * q[i]; return s; }
static double get(const double *p, int i) { return p[i]; }
void kernel(void) { double s = 0; for (int i = 0; i < 12; i++) { x[i] = dot((double *)a + i * 8, b, 8) + c[i]; s += get(c, i) * x[i]; x[i] -= w[i] * (get(c, 11 - i) - dot(a[i], b, i % 4)) / c[i]; double *p = c + i; s = *p * get(b, i / 2) + (float)get(a[i], 3); c[i] = s + get(x, i) * get(c, i) * 2.0; } }
