// Steps in loops that go down or by more than one, past continue.
#define N 40
int a[N * N], b[N * N], s;
void both(void)
{
	int *p = a + N, u = 0;
	for (int i = N - 1; i >= 0; i--) {
		*--p = b[i];
		if (i & 1)
			continue;
		b[i] = *p;
	}
	for (unsigned i = N; i-- > 0;) {
		u += a[i % 4];
		if (i == 3)
			continue;
		a[i] = 1;
	}
	for (int i = 0; i < 30; i += 3) {
		int k = i;
		for (int j = 0; j < 4; j++, k += 5) {
			if (j == 2 && i > 9)
				continue;
			a[k] = b[j / 2];
		}
	}
	int c = 0;
	for (int i = 2; i < 32; i += 3, c++)
		a[c] = b[i];
	a[c] = 2;
	for (int i = 2; i < 32; i += 3) {
		a[c] = b[i];
		c++;
		if (i < 9) continue;
		b[i] = 0;
	}
}
