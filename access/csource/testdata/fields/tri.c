double L[45], b[9], y[9];
static double row(const double *l, const double *v, int n) { double s = 0; while (n--) s += *l++ * *v++; return s; }
void kernel(void) { for (int t = 0; t < 5; t++) { const double *l = L; for (int i = 0; i < 9; i++) { y[i] = (b[i] - row(l, y, i)) / l[i]; l += i + 1; } } }
