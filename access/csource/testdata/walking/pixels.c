// Pixels of three bytes, read and written by pointers that go through all of an image.
#define W 17
#define H 9
unsigned char rgb[H][W][3], grey[H][W], out[H * W * 4];

static void copied(unsigned char *to, const unsigned char *from, int n)
{
	for (int i = 0; i < n; i++)
		*to++ = *from++;
}

void walking(void)
{
	const unsigned char *p = (const unsigned char *)rgb;
	unsigned char *o = (unsigned char *)grey;
	for (int i = 0; i < W * H; i++) {
		int r = *p++, g = *p++, b = *p++;
		*o++ = (77 * r + 150 * g + 29 * b) >> 8;
	}
	o = out;
	for (const unsigned char *q = (unsigned char *)rgb, *end = q + 3 * W * H; q != end; q += 3, o += 4) {
		o[0] = q[2];
		o[1] = q[1];
		o[2] = q[0];
		o[3] = 255;
	}
	for (unsigned char *q = out + sizeof out - 4; q >= out; q -= 4)
		q[3] ^= q[0];
	for (int y = 0; y < H; y++)
		copied(out + y * W, grey[H - 1 - y], W);
}

void plain(void)
{
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++) {
			rgb[y][x][0]; rgb[y][x][1]; rgb[y][x][2];
			grey[y][x] = 0;
		}
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++) {
			out[4 * (W * y + x)] = rgb[y][x][2];
			out[4 * (W * y + x) + 1] = rgb[y][x][1];
			out[4 * (W * y + x) + 2] = rgb[y][x][0];
			out[4 * (W * y + x) + 3] = 255;
		}
	for (int i = W * H - 1; i >= 0; i--)
		out[4 * i + 3] ^= out[4 * i];
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			out[y * W + x] = grey[H - 1 - y][x];
}
