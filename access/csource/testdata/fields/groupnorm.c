#include <math.h>
#define H 4
#define W 5
#define C 8
#define G 2
float x[H][W][C], y[H * W * C], s[C];
void kernel(void) { for (int g = 0; g < G; g++) { double m = 0, v = 0; for (int h = 0; h < H; h++) for (int w = 0; w < W; w++) for (int c = g * (C / G); c < (g + 1) * (C / G); c++) { m += x[h][w][c]; v += x[h][w][c] * x[h][w][c]; } for (int p = 0; p < H * W; p++) for (int c = 0; c < C / G; c++) y[p * C + g * (C / G) + c] = (x[p / W][p % W][g * (C / G) + c] - m) * s[g * (C / G) + c] / sqrt(v); } }
