#define N 100
#define S 3
float x[N], y[N], z[S][2], c[S][5];
static float stage(float in, float *s, const float *k) { float o = k[0] * in + s[0]; s[0] = k[1] * in - k[3] * o + s[1]; s[1] = k[2] * in - k[4] * o; return o; }
void kernel(void) { int w = 0; for (int i = 0; i < N; i++) { float v = x[i]; for (int s = 0; s < S; s++) v = stage(v, z[s], c[s]); y[i] = v + stage(x[i], z[0], c[w]); w = w == S - 1 ? 0 : w + 1; } }
