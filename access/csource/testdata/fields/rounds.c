/* Rings of other forms: downwards, by more than one, of remainders, by the hop, in a function, in a while. */
#define N 500
#define D 100
#define M 25
float x[N], y[N], d1[D], d2[M], d3[D], d4[D], d5[D], hist[D + 1];
static int next(int k, int n) { return k + 1 == n ? 0 : k + 1; }
void kernel(void)
{
	int a = 0, b = 0, e = 0, f = 1, g = 0, i = 0;
	unsigned m = 0;
	while (i < N) {
		d1[a] = x[i];
		if (--a < 0)
			a += D;
		d2[m] += x[i];
		m = (m + 1) % M;
		d3[e] = d3[(e + 10) % D] + x[i];
		e = (e + 1) % D;
		hist[f] = x[i];
		f = f == D ? 1 : f + 1;
		d4[g] = d4[next(g, D)];
		g = next(g, D);
		y[i] = d1[a];
		i++;
	}
	for (int h = 0, p = 0; h < N; h++) {
		d5[p] += x[h];
		p += 30;
		if (p >= D)
			p -= D;
	}
}
