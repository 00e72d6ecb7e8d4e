unsigned char g[2][10][12];
static int at(int y, int x) { return ((y + 10) % 10) * 12 + (x + 12) % 12; }
static int cell(const unsigned char *w, int y, int x) { return w[at(y, x)]; }
void kernel(void) { for (int t = 0; t < 4; t++) for (int y = 0; y < 10; y++) for (int x = 0; x < 12; x++) { int n = 0; for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) if (dy || dx) n += cell((unsigned char *)g[t % 2], y + dy, x + dx); unsigned char c = g[t % 2][y][x]; g[(t + 1) % 2][y][x] = n == 3; } }
