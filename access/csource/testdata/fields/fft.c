double re[16], im[16], wr[8], wi[8];
void kernel(void) { for (int s = 1; s <= 4; s++) { int len = 1 << s, half = len >> 1; for (int i = 0; i < 16; i += len) for (int k = 0; k < half; k++) { double xr = re[i + k + half] * wr[k << (4 - s)]; re[i + k + half] = re[i + k] - xr; re[i + k] += xr; } } }
