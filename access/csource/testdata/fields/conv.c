double in[12][14], out[12][14], ker[3][3];
static inline int clampi(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }
void kernel(void) { for (int y = 0; y < 12; y++) for (int x = 0; x < 14; x++) { double acc = 0; for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) { int yy = clampi(y + dy, 0, 11), xx = clampi(x + dx, 0, 13); acc += in[yy][xx] * ker[dy + 1][dx + 1]; } out[y][x] = acc; } }
