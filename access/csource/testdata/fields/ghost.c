#define NX 10
#define IDX(i, j) ((i) * (NX + 2) + (j))
double u[(NX+2)*(NX+2)], v[(NX+2)*(NX+2)];
static void bc(double *w) { for (int i = 1; i <= NX; i++) { w[IDX(i, 0)] = w[IDX(i, NX)]; w[IDX(i, NX + 1)] = w[IDX(i, 1)]; } for (int j = 0; j < NX + 2; j++) { w[IDX(0, j)] = w[IDX(NX, j)]; w[IDX(NX + 1, j)] = w[IDX(1, j)]; } }
static double lap(const double *w, int i, int j) { return w[IDX(i - 1, j)] + w[IDX(i + 1, j)] + w[IDX(i, j - 1)] + w[IDX(i, j + 1)] - 4 * w[IDX(i, j)]; }
void kernel(void) { double *cur = u, *nxt = v; for (int t = 0; t < 3; t++) { bc(cur); for (int i = 1; i <= NX; i++) for (int j = 1; j <= NX; j++) nxt[IDX(i, j)] = cur[IDX(i, j)] + 0.1 * lap(cur, i, j); double *s = cur; cur = nxt; nxt = s; } }
