// Buffers by a variable of which the values come again.
#define N 10
double x[2][N][N], y[3][N];
void turns(void)
{
	int cur = 0, old = 0;
	for (int t = 1; t <= 6; t++) {
		for (int i = 1; i < N - 1; i++)
			for (int j = 1; j < N - 1; j++)
				x[1 - cur][i][j] = x[cur][i-1][j] + x[cur][i+1][j];
		cur = 1 - cur;
		for (int i = 0; i < N; i++)
			y[(old + 1) % 3][i] += y[old][i];
		old = (old + 1) % 3;
	}
	int flip = 0;
	for (int i = 0; i < 5; i++) {
		x[flip][i][i] = x[!flip][0][i];
		flip ^= 1;
	}
	x[flip][0][0] = y[old][cur];
}
