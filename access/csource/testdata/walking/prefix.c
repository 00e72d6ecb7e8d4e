// Sums of prefixes, windows that slide, and merges at a constant pace.
#define N 40
int count[N + 1], start[N + 1], window[N], merged[2 * N];
long total;

void walking(void)
{
	int sum = 0, *s = start;
	for (const int *c = count; c < count + N; c++) {
		*s++ = sum;
		sum += *c;
	}
	*s = sum;
	int in = 0, out = 0;
	long acc = 0;
	for (; in < 5; in++)
		acc += count[in];
	for (; in < N; in++, out++) {
		window[out] = acc;
		acc += count[in];
		acc -= count[out];
	}
	const int *a = count, *b = start;
	for (int *m = merged, *end = merged + 2 * N; m < end;) {
		*m++ = *a++;
		*m++ = *b++;
	}
	int i = N;
	while (i > 0) {
		i -= 1;
		start[i + 1] = start[i];
	}
	i = N - 1;
	while (i >= 0) {
		count[i] = 0;
		--i;
	}
	unsigned u = 0;
	while (u < N) {
		window[u] = merged[2 * u + 1];
		u++;
	}
	short h = 0;
	while (h != 20)
		window[h++] = 0;
	total = acc;
}
