// From planes to interleaved channels and back, in tiles, with strides that variables have.
#define C 3
#define H 6
#define W 8
float planes[C * H * W], pixels[H * W * C], tiled[H * W], one[H][W];

static void interleave(int c, int n, int stride, const float *from, float *to)
{
	to += c;
	for (int i = 0; i < n; ++i, to += stride)
		*to = *from++;
}

void walking(void)
{
	const int n = H * W;
	for (int c = 0; c < C; c++)
		interleave(c, n, C, planes + c * n, pixels);
	float *to = planes;
	for (int c = 0; c < C; c++) {
		const float *from = pixels + c;
		for (int i = 0; i < n; i++) {
			*to++ = *from;
			from = from + C;
		}
	}
	int k = 0;
	for (int y = 0; y < H; y += 2)
		for (int x = 0; x < W; x += 4) {
			for (int r = 0; r < 2; r++) {
				const float *p = &one[y + r][x];
				tiled[k] = p[0], tiled[k + 1] = p[1], tiled[k + 2] = p[2], tiled[k + 3] = p[3];
				k += 4;
			}
		}
	const float *t = tiled;
	for (float *y = (float *)one; y < (float *)one + H * W; y += 2 * W)
		for (float *x = y; x < y + W; x += 4)
			for (float *r = x; r <= x + W; r += W)
				for (int i = 0; i < 4; i++)
					r[i] = *t++;
}
