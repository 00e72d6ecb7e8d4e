// A bottom-up merge of two buffers, as far as data do not choose, with widths that double, and two loops over time.
#define N 32
int x[N], y[N];
void turns(void)
{
	int *from = x, *to = y;
	int width = 1;
	for (int level = 0; level < 5; level++) {
		for (int i = 0; i < N; i += 2 * width)
			for (int j = 0; j < width; j++) {
				to[i + 2 * j] = from[i + j];
				to[i + 2 * j + 1] = from[i + width + j];
			}
		int *t = from;
		from = to;
		to = t;
		width += width;
	}
	for (int r = 0; r < 2; r++)
		for (int s = 0; s < 3; s++) {
			to[r] = from[s];
			int *t = from;
			from = to, to = t;
		}
	to[0] = from[1];
}
