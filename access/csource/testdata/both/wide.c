// Steps and remainders by which the heads of loops inside are bounded, and a return between them.
#define N 30
int a[N * N], b[N * N], s;
static void row(int *p, int n, int at)
{
	int *q = p + at % 3;
	for (int i = 0; i < n; i++) {
		*q++ = b[(i + at) % 4];
		if (i > at)
			continue;
		*q = 1;
	}
	if (at == 2)
		return;
	*q++ = 7;
	if (at % 2 == 0) {
		*q++ = 8;
		return;
	}
	*--q = 9;
}
void both(void)
{
	for (int i = 0; i < 8; i++)
		row(a + i, 6, i);
	int k = 5;
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < i % 4; j++)
			a[k + j] = b[j];
		k += 2;
	}
	a[k] = 1;
	for (int i = 0; i < N; i++) {
		int m = 0;
		for (int j = i % 3; j < 5; j++, m++)
			a[m] = b[j];
		a[m] = 1;
	}
	int m = 0;
	for (int i = 0; i < N; i++) {
		if (i % 2) { m += 3; a[m] = 1; continue; }
		m++;
		b[i] = 1;
		m += 2;
	}
	a[m] = 4;
}
