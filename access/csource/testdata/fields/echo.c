/* An echo: a long ring that wraps by a remainder, and one by a ternary, over blocks of samples. */
#define N 1000
#define D 300
float x[N], y[N], ring[D];
void kernel(void)
{
	int p = 0;
	for (int b = 0; b < N; b += 100)
		for (int i = b; i < b + 100; i++) {
			float e = ring[p];
			ring[p] = x[i] + 0.3f * e;
			y[i] = x[i] + e;
			p = p + 1 == D ? 0 : p + 1;
		}
}
