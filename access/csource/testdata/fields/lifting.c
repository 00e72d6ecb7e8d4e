#define N 64
float x[N], lo[N / 2], hi[N / 2];
void kernel(void) { int n = N; for (int l = 0; l < 3; l++, n /= 2) { int h = n / 2; for (int i = 0; i < h; i++) { hi[i] = x[2 * i + 1] - 0.5f * (x[2 * i] + x[2 * i + 2 < n ? 2 * i + 2 : n - 2]); } for (int i = 0; i < h; i++) lo[i] = x[2 * i] + 0.25f * (hi[i > 0 ? i - 1 : 0] + hi[i]); for (int i = 0; i < h; i++) { x[i] = lo[i]; x[h + i] = hi[i]; } } }
