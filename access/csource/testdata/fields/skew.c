#define N 30
#define T 8
double a[2][N];
#define max(a,b) ((a) > (b) ? (a) : (b))
#define min(a,b) ((a) < (b) ? (a) : (b))
void kernel(void) { for (int tt = 0; tt < T; tt += 4) for (int ii = 0; ii < N + T; ii += 6) for (int t = tt; t < min(tt + 4, T); t++) for (int i = max(ii - t, 1); i < min(ii - t + 6, N - 1); i++) a[(t + 1) & 1][i] = a[t & 1][i - 1] + a[t & 1][i] + a[t & 1][i + 1]; }
