#define G 16
#define N 20
double e[G], rho[G], v[N], x[N];
void kernel(void) { for (int t = 0; t < 2; t++) { for (int g = 0; g < G; g++) { int l = g == 0 ? G - 1 : g - 1, r = g == G - 1 ? 0 : g + 1; e[g] = (rho[r] - rho[l]) * 0.5; } int c = 0; for (int i = 0; i < N; i++) { v[i] += e[c] + e[c + 1 == G ? 0 : c + 1]; x[i] += v[i]; rho[c] += x[i]; if (++c == G) c = 0; } } }
