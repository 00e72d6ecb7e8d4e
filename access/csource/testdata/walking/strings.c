// Bytes and words of buffers, backwards and forwards, in whiles and fors.
#define N 48
char from[N], to[N + 4];
short words[N];
int hist[4];

static int sum(const short *p, int n)
{
	int s = 0;
	const short *end = p + n;
	while (p != end)
		s += *p++;
	return s;
}

void walking(void)
{
	char *d = to;
	const char *s = from;
	for (int n = N; n > 0; --n)
		*d++ = *s++;
	*d++ = 0;
	*d = 1;
	d = to + N;
	s = from + N;
	for (int n = N; n; n--)
		*--d = *--s;
	int i = 0, j = 0;
	while (i < N) {
		words[j] = from[i] | from[i + 1] << 8;
		i += 2;
		j++;
	}
	hist[0] = sum(words, N);
	hist[1] = sum(words + 4, j);
	for (i = 0, j = 8; j < N; j += 8) {
		words[i++] = words[j];
		words[i++] = words[j + 1];
	}
	hist[2] = sum(words, i);
	for (short *w = words; w + 3 < words + N; w += 4)
		w[0] = w[1] + w[2] + w[3];
	for (long k = N; k >= 8; k -= 8)
		for (char *p = to + k - 1; p >= to + k - 8; --p)
			p[4] = *p;
}
