typedef struct { float d; signed char qs[8]; } q8; typedef struct { float d, m; unsigned char qs[4]; } q4;
q8 y[6]; q4 x[3][6]; float out[3];
static int dot4(const q4 *a, const q8 *b) { int s = 0; for (int j = 0; j < 4; j++) { const int v0 = (a->qs[j] & 0x0F) - 8, v1 = (a->qs[j] >> 4) - 8; s += v0 * b->qs[j] + v1 * b->qs[j + 4]; } return s; }
void kernel(void) { for (int r = 0; r < 3; r++) { float sumf = 0; for (int i = 0; i < 6; i++) sumf += x[r][i].d * y[i].d * dot4(&x[r][i], &y[i]); out[r] = sumf; } }
