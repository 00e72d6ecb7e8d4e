#include <math.h>
#define L 3
#define T 6
#define H 2
#define D 8
float q[H][D], kc[L][T][H][D], vc[L][T][H][D], att[T], out[H][D], freq[D / 2];
void kernel(void) { for (int pos = 0; pos < T; pos++) for (int l = 0; l < L; l++) { for (int h = 0; h < H; h++) { float *v = q[h], *k = kc[l][pos][h]; for (int i = 0; i < D; i += 2) { float c = cosf(pos * freq[i / 2]), s = sinf(pos * freq[i >> 1]); float a = v[i], b = v[i + 1]; v[i] = a * c - b * s; v[i + 1] = a * s + b * c; k[i] += fmaxf(a, k[i + 1]); } for (int t = 0; t <= pos; t++) { att[t] = 0; for (int i = 0; i < D; i++) att[t] += v[i] * kc[l][t][h][i]; att[t] /= sqrtf(D); } for (int i = 0; i < D; i++) { float s = 0; for (int t = 0; t <= pos; t++) s += expf(att[t]) * vc[l][t][h][i]; out[h][i] += s; } } } }
