// Convolutions with pointers to the rows above, here and below, which move on with the output.
#define H 11
#define W 13
#define K 3
float in[H * W], out[H * W], kernel[K * K], line[W], sum[H];

void walking(void)
{
	const float *above = in, *here = in + W, *below = in + 2 * W;
	float *o = out + W;
	int x, y;
	for (y = 1; y < H - 1; y++) {
		above++, here++, below++, o++;
		for (x = 1; x < W - 1; x++) {
			*o++ = 0.25f * (*above++ + *below++) + 0.125f * (here[-1] + here[1]);
			here++;
		}
		above++;
		here++;
		below++;
		o++;
	}
	float *row = out;
	for (y = 0; y <= H - K; y++, row += W) {
		float *to = row;
		for (x = 0; x <= W - K; x++) {
			const float *k = kernel, *from = in + y * W + x;
			float s = 0;
			for (int i = 0; i < K; i++) {
				for (int j = 0; j < K; j++)
					s += *k++ * *from++;
				from += W - K;
			}
			*to++ = s;
		}
	}
	const float *p;
	float *l;
	for (y = 0; y < H; y++) {
		float s = 0;
		p = in + y * W;
		l = line;
		for (x = 0; x < W; x++) {
			s += *p;
			*l++ = *p++;
		}
		sum[y] = s;
	}
}

void plain(void)
{
	for (int y = 1; y < H - 1; y++)
		for (int x = 1; x < W - 1; x++)
			out[y * W + x] = 0.25f * (in[(y - 1) * W + x] + in[(y + 1) * W + x]) + 0.125f * (in[y * W + x - 1] + in[y * W + x + 1]);
	for (int y = 0; y <= H - K; y++)
		for (int x = 0; x <= W - K; x++) {
			float s = 0;
			for (int i = 0; i < K; i++)
				for (int j = 0; j < K; j++)
					s += kernel[K * i + j] * in[(y + i) * W + x + j];
			out[y * W + x] = s;
		}
	for (int y = 0; y < H; y++) {
		float s = 0;
		for (int x = 0; x < W; x++) {
			s += in[y * W + x];
			line[x] = in[y * W + x];
		}
		sum[y] = s;
	}
}
