#define N 17
#define C 9
double fine[N][N], coarse[C][C], r[N][N];
void kernel(void) { for (int i = 1; i < C - 1; i++) for (int j = 1; j < C - 1; j++) coarse[i][j] = 0.25 * r[2 * i][2 * j] + 0.125 * (r[2 * i - 1][2 * j] + r[2 * i + 1][2 * j] + r[2 * i][2 * j - 1] + r[2 * i][2 * j + 1]); for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) { if ((i & 1) == 0 && (j & 1) == 0) fine[i][j] += coarse[i / 2][j / 2]; else if (!(i & 1)) fine[i][j] += 0.5 * (coarse[i / 2][j / 2] + coarse[i / 2][j / 2 + 1]); else if (!(j & 1)) fine[i][j] += 0.5 * (coarse[i / 2][j / 2] + coarse[i / 2 + 1][j / 2]); else fine[i][j] += 0.25 * (coarse[i >> 1][j >> 1] + coarse[(i + 1) / 2][(j + 1) >> 1]); } }
