double re[16], wr[8];
static int reverse(int x) { return (x & 1) << 3 | (x & 2) << 1 | (x & 4) >> 1 | (x & 8) >> 3; }
void kernel(void) { for (int t = 0; t < 5; t++) { for (int i = 0; i < 16; i++) { int r = reverse(i); if (i < r) { double t = re[i]; re[i] = re[r]; re[r] = t; } } } }
