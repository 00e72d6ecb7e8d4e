#define N 40
double a[N], b[N], c[N]; int n;
static double f3(double x, double y, double z) { return x * y - z; }
static double at(const double *p, int i, double by) { return p[i] * by; }
void kernel(void) { for (int i = 0; i < N; i++) { a[i] = f3(b[i], c[N - 1 - i], f3(a[i], b[i / 2], c[i % 3])); c[i] += f3(at(a, i, b[i]), c[i], a[0]); b[i] -= at(b, i / 3, f3(a[i], c[0], i)); } double *p = a, *q = b; for (int i = 0; i < 10; i++) c[i] = f3(*p++, *q++, at(c, 2, c[i + 1])); }
