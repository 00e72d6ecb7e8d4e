long m[9][9]; int p[10];
#define N 9
void kernel(void) { for (int i = 0; i < N; i++) m[i][i] = 0; for (int len = 2; len <= N; len++) for (int i = 0; i + len - 1 < N; i++) { int j = i + len - 1; long best = 1L << 40; for (int k = i; k < j; k++) { long c = m[i][k] + m[k + 1][j] + p[i] * p[k + 1] * p[j + 1]; best = c < best ? c : best; } m[i][j] = best; } }
