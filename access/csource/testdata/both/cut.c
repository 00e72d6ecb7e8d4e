// Loops that are cut for remainders, whose steps go on through the parts: up, down, by 3, from a variable, and nested.
#define N 30
int a[N * N], b[N * N], s;
void both(void)
{
	int *p = a, k = 0;
	for (int i = 0; i < N; i++) {
		*p++ = b[i % 4];
		b[k] = 1;
		k += 2;
	}
	*p = b[k];
	for (int i = N - 1; i >= 0; i--) {
		*--p = b[i % 7];
		if (i % 3 == 1)
			continue;
		p[1] = 2;
	}
	*p = 1;
	for (int i = 2; i < 3 * N; i += 3, p += 3) {
		*p = b[i % 5];
		k += 3;
		b[k] = 3;
	}
	*p = b[k];
	p = a;
	k = 0;
	for (int i = 0; i < 12; i++)
		for (int j = i; j < 14; j++) {
			int *q = b + i;
			q += j;
			*q = a[j % 3];
			for (int l = 0; l < 3; l++)
				*q++ = a[l + i % 2];
			q[0] = 1;
		}
	for (int i = 0; i < 20; i++) {
		for (int j = 0; j < 9; j++, k++)
			a[k] = b[j % 2 + i % 3];
		if (i % 4 == 0)
			continue;
		a[k] = 2;
	}
	a[k] = 3;
	for (int i = 0, j = 29; i < j; i++, j--)
		a[i] = b[5] + b[j];
	for (int i = 40; i > 1; i -= 2) {
		k -= 2;
		a[k] = b[i / 4 % 3];
		b[i >> 2] = a[k + 1];
	}
	a[k] = 1;
}
