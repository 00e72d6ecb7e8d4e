#define B 2
#define M 8
#define NN 8
#define K 6
float A[B][M][K], Bm[B][K][NN], C[B][M][NN], pa[4*K], pb[4*K];
static void pack_a(const float *a, float *to) { for (int k = 0; k < K; k++) for (int i = 0; i < 4; i++) *to++ = a[i * K + k]; }
static void pack_b(const float *b, float *to) { for (int k = 0; k < K; k++) { const float *row = b + k * NN; for (int j = 0; j < 4; j++) *to++ = row[j]; } }
static void micro(const float *a, const float *b, float *c) { for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) { float s = 0; for (int k = 0; k < K; k++) s += a[k * 4 + i] * b[k * 4 + j]; c[i * NN + j] += s; } }
void kernel(void) { for (int b = 0; b < B; b++) for (int j = 0; j < NN; j += 4) { pack_b((float *)Bm[b] + j, pb); for (int i = 0; i < M; i += 4) { pack_a((float *)A[b] + i * K, pa); micro(pa, pb, (float *)C[b] + i * NN + j); } } }
