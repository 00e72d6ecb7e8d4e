#include <math.h>
#include <stdlib.h>
#define H 8
#define W 10
int img[H][W], mag[H][W]; float ang[H][W]; double nms[H][W];
void kernel(void) { for (int y = 1; y < H - 1; y++) for (int x = 1; x < W - 1; x++) { int sx = 0, sy = 0; for (int i = -1; i <= 1; i++) for (int j = -1; j <= 1; j++) { sx += img[y + i][x + j] * 2; sy += img[y + j][x + i]; } mag[y][x] = abs(sx) + abs(sy); ang[y][x] = atan2f(sy, sx); }
 for (int y = 1; y < H - 1; y++) for (int x = 1; x < W - 1; x++) nms[y][x] = fmax(mag[y][x - 1], fmax(mag[y][x], mag[y][x + 1])) * ang[y][x]; for (int y = 1; y < H - 1; y++) for (int x = 1; x < W - 1; x++) nms[y][x] += hypot(mag[y][x], ang[y][x]) - fabs(nms[y][x - 1]); }
