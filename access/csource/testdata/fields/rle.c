#define N 48
unsigned char in[N], out[2 * N]; int freq[256], code[16], len[16];
void kernel(void) { int o = 0; for (int i = 0; i < N; i += 4) { out[o++] = in[i]; out[o++] = in[i + 1] ^ in[i + 2]; } for (int b = 0; b < 16; b++) { code[b] = (b << 1) | (freq[b] & 1); len[b] += freq[15 - b]; } for (int i = 0, bit = 0; i < N; i++, bit += 3) out[bit / 8] |= in[i] << (bit % 8); }
