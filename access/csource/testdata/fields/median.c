#define H 9
#define W 11
#define SORT(a, b) { unsigned char t = a < b ? a : b; b = a < b ? b : a; a = t; }
unsigned char in[H][W], out[H][W];
static int mid(int a, int b, int c) { return a > b ? (b > c ? b : a > c ? c : a) : (a > c ? a : b > c ? c : b); }
void kernel(void) { for (int y = 1; y < H - 1; y++) for (int x = 1; x < W - 1; x++) { unsigned char p0 = in[y - 1][x - 1], p1 = in[y - 1][x], p2 = in[y - 1][x + 1]; SORT(p0, p1) SORT(p1, p2) SORT(p0, p1); out[y][x] = mid(in[y][x - 1], in[y][x], in[y][x + 1]) + mid(p0, p1, in[y + 1][x]); } }
