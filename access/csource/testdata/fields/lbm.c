#define X 9
#define Y 7
#define Q 9
const int dx[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, row[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
double f[2][Q][Y][X], rho[Y][X], w[Q];
void kernel(void) { for (int t = 0; t < 3; t++) for (int y = 0; y < Y; y++) for (int x = 0; x < X; x++) { double s = 0; for (int k = 0; k < Q; k++) s += f[t & 1][k][y][x]; rho[y][x] = s; for (int k = 0; k < Q; k++) { int xn = (x + dx[k] + X) % X, yn = (y + row[k] + Y) % Y; f[1 - (t & 1)][k][yn][xn] = f[t & 1][k][y][x] * 0.5 + w[k] * s; } } }
