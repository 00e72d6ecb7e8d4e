#define CI 3
#define CO 2
#define L 20
#define K 3
float x[CI][L], w[CO][CI][K], y[CO][L];
void kernel(void) { for (int e = 0, dil = 1; e < 3; e++, dil *= 2) for (int o = 0; o < CO; o++) for (int t = 0; t < L; t++) { float s = 0; for (int c = 0; c < CI; c++) for (int k = 0; k < K; k++) { int p = t - (K - 1 - k) * dil; if (p >= 0) s += w[o][c][k] * x[c][p]; } y[o][t] = s; } }
