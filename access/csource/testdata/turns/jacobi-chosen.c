// The same by the parity of the step, in flat buffers, and a copy back where the number of steps is odd.
#define N 8
#define T 7
#define AT(i, j) ((i) * N + (j))
float u[N * N], v[N * N];
void turns(void)
{
	for (int t = 0; t < T; t++) {
		const float *src = t % 2 ? v : u;
		float *dst = t % 2 == 0 ? v : u;
		for (int i = 1; i < N - 1; i++)
			for (int j = 1; j < N - 1; j++)
				dst[AT(i, j)] = src[AT(i - 1, j)] + src[AT(i + 1, j)] + src[AT(i, j - 1)] + src[AT(i, j + 1)];
	}
	if (T & 1)
		for (int i = 0; i < N * N; i++)
			u[i] = v[i];
}
