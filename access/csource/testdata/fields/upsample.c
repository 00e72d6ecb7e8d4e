#define H 5
#define W 6
float in[H][W], near[2 * H][2 * W], bil[2 * H][2 * W];
void kernel(void) { for (int y = 0; y < 2 * H; y++) for (int x = 0; x < 2 * W; x++) { near[y][x] = in[y / 2][x / 2]; int y0 = y / 2, x0 = x / 2; int y1 = y0 + 1 < H ? y0 + 1 : H - 1, x1 = x0 + 1 < W ? x0 + 1 : W - 1; bil[y][x] = 0.25f * (in[y0][x0] + in[y0][x1] + in[y1][x0] + in[y1][x1]); } }
