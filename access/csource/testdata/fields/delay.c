/* A delay line with feedback: an index that wraps by an if, and one that wraps by a comparison behind a step. */
#define N 600
#define D 50
float x[N], y[N], delay[D], comb[D];
void kernel(void)
{
	int w = 0, r = 1, c = 0;
	for (int i = 0; i < N; i++) {
		y[i] = x[i] + 0.5f * delay[r];
		delay[w] = y[i];
		if (++w == D)
			w = 0;
		r++;
		if (r >= D)
			r = 0;
		comb[c] += y[i];
		c = (c + 1 < D) ? c + 1 : 0;
	}
}
