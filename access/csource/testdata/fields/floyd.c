int d[8][8];
static void block(int *c, const int *a, const int *b) { for (int k = 0; k < 4; k++) for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) { int s = a[i * 8 + k] + b[k * 8 + j]; c[i * 8 + j] = c[i * 8 + j] < s ? 1 : s; } }
#define P(r, c) ((int *)d + (r) * 32 + (c) * 4)
void kernel(void) { for (int k = 0; k < 2; k++) { block(P(k, k), P(k, k), P(k, k)); for (int j = 0; j < 2; j++) if (j != k) block(P(k, j), P(k, k), P(k, j)); for (int i = 0; i < 2; i++) { if (i == k) continue; block(P(i, k), P(i, k), P(k, k)); for (int j = 0; j < 2; j++) if (j != k) block(P(i, j), P(i, k), P(k, j)); } } }
