// Arrays as arrays of other extents: all rows as one, and rows of what has none.
#define H 12
#define W 10
float img[3][H][W], out[H][W];
double buffer[240], plain_sum[4];

static void scale(int n, float *x)
{
	for (int i = 0; i < n; i++)
		x[i] *= 2;
}

static double trace(int n, double a[n][n])
{
	double s = 0;
	for (int i = 0; i < n; i++)
		s += a[i][n - 1 - i];
	return s;
}

void pointers(void)
{
	const float *r = (const float *)img[0], *g = (float *)(img + 1), *b = (float *)&img[2];
	float *o = (float *)out;
	for (int i = 0; i < H * W; i++)
		o[i] = 0.3f * r[i] + 0.6f * g[i] + 0.1f * b[H * W - 1 - i];
	for (int c = 0; c < 3; c++) {
		float *plane = (float *)img[c];
		for (int y = 1; y < H; y++)
			plane[y * W + c] += plane[(y - 1) * W];
	}
	scale(3 * H * W, (float *)img);
	scale(W, (float *)(out + 2));
	double (*a)[8] = (double (*)[8])buffer, (*t)[4][5] = (double (*)[4][5])(buffer + 40);
	for (int i = 0; i < 8; i++)
		for (int j = 0; j < 8; j++)
			a[i + 2][j] = a[j][i] + t[i][3][4];
	plain_sum[0] = trace(15, (double (*)[15])buffer);
	plain_sum[1] = trace(6, (double (*)[6])(a + 3));
}

void plain(void)
{
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			out[y][x] = 0.3f * img[0][y][x] + 0.6f * img[1][y][x] + 0.1f * img[2][H - 1 - y][W - 1 - x];
	for (int c = 0; c < 3; c++)
		for (int y = 1; y < H; y++)
			img[c][y][c] += img[c][y - 1][0];
	for (int c = 0; c < 3; c++)
		for (int y = 0; y < H; y++)
			for (int x = 0; x < W; x++)
				img[c][y][x] *= 2;
	for (int x = 0; x < W; x++)
		out[2][x] *= 2;
	for (int i = 0; i < 8; i++)
		for (int j = 0; j < 8; j++)
			buffer[8 * (i + 2) + j] = buffer[8 * j + i] + buffer[40 + 20 * i + 19];
	for (int i = 0; i < 15; i++)
		buffer[15 * i + 14 - i];
	plain_sum[0] = 1;
	for (int i = 0; i < 6; i++)
		buffer[24 + 6 * i + 5 - i];
	plain_sum[1] = 1;
}
