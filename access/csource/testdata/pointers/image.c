// Filters of an image: a box of bytes, Sobel's, and one of pixels of three channels.
#define H 9
#define W 10
unsigned char image[H][W], out[H * W], rgb[H][W][3];
short gx[H][W];
const int kernel[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};
typedef struct { unsigned char r, g, b, a; } pixel;
pixel pixels[H * W];

void pointers(void)
{
	for (int y = 1; y < H - 1; y++) {
		unsigned char *dst = out + y * W;
		for (int x = 1; x < W - 1; x++) {
			int sum = 0;
			for (int ky = 0; ky < 3; ky++) {
				const unsigned char *src = &image[y + ky - 1][x - 1];
				const int *k = kernel[ky];
				for (int kx = 0; kx < 3; kx++)
					sum += k[kx] * src[kx];
			}
			dst[x] = sum / 16;
		}
	}
	for (int y = 1; y < H - 1; y++) {
		const unsigned char *up = image[y - 1] + 1, *mid = image[y] + 1, *down = image[y + 1] + 1;
		short *g = gx[y] + 1;
		for (int x = 0; x < W - 2; x++)
			g[x] = up[x + 1] - up[x - 1] + 2 * (mid[x + 1] - mid[x - 1]) + *(down + x + 1) - *(down + x - 1);
	}
	for (int y = 0; y < H; y++) {
		unsigned char (*line)[3] = rgb[y];
		pixel *to = &pixels[y * W];
		for (int x = 0; x < W; x++) {
			unsigned char *c = line[x];
			to[x].r = c[0];
			(to + x)->g = c[1];
			pixel *one = to + x;
			one->b = c[2];
			one->a = 255;
		}
	}
}

void plain(void)
{
	for (int y = 1; y < H - 1; y++)
		for (int x = 1; x < W - 1; x++) {
			int sum = 0;
			for (int ky = 0; ky < 3; ky++)
				for (int kx = 0; kx < 3; kx++)
					sum += kernel[ky][kx] * image[y + ky - 1][x + kx - 1];
			out[y * W + x] = sum / 16;
		}
	for (int y = 1; y < H - 1; y++)
		for (int x = 1; x < W - 1; x++)
			gx[y][x] = image[y - 1][x + 1] - image[y - 1][x - 1] + 2 * (image[y][x + 1] - image[y][x - 1]) + image[y + 1][x + 1] - image[y + 1][x - 1];
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++) {
			pixels[y * W + x].r = rgb[y][x][0];
			pixels[y * W + x].g = rgb[y][x][1];
			pixels[y * W + x].b = rgb[y][x][2];
			pixels[y * W + x].a = 255;
		}
}
