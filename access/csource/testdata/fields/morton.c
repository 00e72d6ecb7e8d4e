int a[64], o[64];
static int part(int x) { return (x & 1) | (x & 2) << 1 | (x & 4) << 2; }
void kernel(void) { for (int y = 0; y < 8; y++) for (int x = 0; x < 8; x++) o[part(x) | part(y) << 1] = a[y * 8 + x]; }
