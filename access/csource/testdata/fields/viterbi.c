#include <math.h>
#define S 5
#define T 12
double trans[S][S], emit[T][S], v[2][S]; int best[T][S]; double out[S];
void kernel(void) { int cur = 0; for (int t = 1; t < T; t++) { for (int s = 0; s < S; s++) { double m = -1e9; for (int p = 0; p < S; p++) m = fmax(m, v[cur][p] + trans[p][s]); v[!cur][s] = m + emit[t][s]; best[t][s] = m > 0; } cur = !cur; } for (int s = 0; s < S; s++) out[s] = v[cur][s]; }
