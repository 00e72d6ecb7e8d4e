// Filters and transforms of a signal, with what goes at half its pace, or at its double one, and unrolled loops.
#define N 64
float signal[N], low[N / 2], high[N / 2], pair[2 * N], taps[8];

void walking(void)
{
	int k = 0;
	for (int i = 0; i < N; i += 2) {
		low[k] = signal[i] + signal[i + 1];
		high[k++] = signal[i] - signal[i + 1];
	}
	float *p = pair;
	for (int i = N - 1; i >= 0; i -= 1) {
		*p++ = signal[i];
		*p++ = 0;
	}
	const float *l = low, *h = high;
	float *s = signal;
	for (int n = N / 2; n > 0; n -= 4) {
		*s++ = *l++ + *h;
		*s++ = l[-1] - *h++;
		*s++ = *l++ + *h;
		*s++ = l[-1] - *h++;
		*s++ = *l++ + *h;
		*s++ = l[-1] - *h++;
		*s++ = *l++ + *h;
		*s++ = l[-1] - *h++;
	}
	float sum = 0;
	for (int i = 7; i < N; i++) {
		const float *x = signal + i, *t = taps;
		for (int j = 0; j < 8; j++)
			sum += *x-- * *t++;
		pair[i] = sum;
	}
	unsigned char b = 0;
	for (int i = 0; i < N; i += 3, b++)
		pair[b] += pair[i];
	int w = 0;
	for (int i = 0; i < N; i++) {
		if (i % 1 == 0)
			w += 1;
		low[0] += signal[w - 1];
	}
	k = 3;
	k -= 2;
	low[k] = k;
	low[++k] = w + 1;
}
