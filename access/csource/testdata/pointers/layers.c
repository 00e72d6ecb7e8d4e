// A convolution and a dense layer of a network, whose weights lie in structs and behind one another.
#define C 3
#define O 4
#define S 6
struct layer { float weight[O][C][3][3], bias[O]; } net[2];
float input[C][S][S], output[O][S - 2][S - 2], dense[5][O * 4 * 4], result[5];

void pointers(void)
{
	struct layer *layer = &net[1];
	for (int o = 0; o < O; o++) {
		float (*map)[S - 2] = output[o];
		for (int y = 0; y < S - 2; y++)
			for (int x = 0; x < S - 2; x++)
				map[y][x] = layer->bias[o];
		for (int c = 0; c < C; c++) {
			float (*w)[3] = layer->weight[o][c];
			float (*in)[S][S] = &input[c];
			for (int y = 0; y < S - 2; y++) {
				float *row = map[y];
				for (int x = 0; x < S - 2; x++)
					for (int ky = 0; ky < 3; ky++) {
						const float *wk = w[ky], *at = &(*in)[y + ky][x];
						row[x] += wk[0] * at[0] + wk[1] * at[1] + wk[2] * at[2];
					}
			}
		}
	}
	for (int r = 0; r < 5; r++) {
		const float *w = dense[r];
		float *to = result + r;
		*to = 0;
		for (int o = 0; o < O; o++) {
			const float *part = &w[o * 16];
			for (int y = 0; y < 4; y++)
				for (int x = 0; x < 4; x++)
					*to += part[y * 4 + x] * *(*(*(output + o) + y) + x);
		}
	}
}

void plain(void)
{
	for (int o = 0; o < O; o++) {
		for (int y = 0; y < S - 2; y++)
			for (int x = 0; x < S - 2; x++)
				output[o][y][x] = net[1].bias[o];
		for (int c = 0; c < C; c++)
			for (int y = 0; y < S - 2; y++)
				for (int x = 0; x < S - 2; x++)
					for (int ky = 0; ky < 3; ky++)
						output[o][y][x] += net[1].weight[o][c][ky][0] * input[c][y + ky][x] + net[1].weight[o][c][ky][1] * input[c][y + ky][x + 1] +
							net[1].weight[o][c][ky][2] * input[c][y + ky][x + 2];
	}
	for (int r = 0; r < 5; r++) {
		result[r] = 0;
		for (int o = 0; o < O; o++)
			for (int y = 0; y < 4; y++)
				for (int x = 0; x < 4; x++)
					result[r] += dense[r][o * 16 + y * 4 + x] * output[o][y][x];
	}
}
