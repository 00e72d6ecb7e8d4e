// Steps beside remainders: of loops that are cut, of rows of a ring, and one that wraps once.
#define N 60
int a[N], b[N], c[N * N], t2[2][N];
double s;
int n;
void both(void)
{
	// steps beside remainders of which the loop is cut: nothing asks for count
	int count = 0;
	for (int i = 0; i < N; i++) {
		count += a[i % 2];
		count++;
	}
	// a pointer over rows, starting anew in each turn
	for (int t = 0; t < 7; t++) {
		int *p = c + t * N, *q = t2[t % 2];
		for (int i = 0; i < N; i++)
			*p++ = *q++;
	}
	// outer steps, an inner loop that is cut
	int k = 0;
	for (int t = 0; t < 5; t++) {
		for (int i = 0; i < 12; i++)
			b[i] = a[i % 3];
		a[k++] = b[2 * t];
		k += 2;
	}
	a[k % 4] = 1;
	a[k / 3] = 2;
	// halo: one wrap
	k = 0;
	for (int i = 0; i < N; i++)
		a[k++] = b[(i + 1) % N];
	int *w = a;
	for (int i = 0; i < N; i++)
		*w++ = b[(i + N - 1) % N] + b[(i + 1) % N];
}
