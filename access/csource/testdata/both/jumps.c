// Steps in front of continue, behind it, in the heading of its loop, and in functions that return early.
#define N 60
int a[N * N], b[N * N], s;
static void part(int *p, int n)
{
	if (n < 2)
		return;
	*p++ = 1;
	if (n < 4) {
		*p++ = 2;
		return;
	}
	for (int i = 0; i < n; i++) {
		if (i == 3)
			continue;
		p[i] = 3;
	}
	p += n;
	*p = 4;
}
void both(void)
{
	int k = 0, l = 0, m = 0;
	for (int i = 0; i < N; i++, m += 3) {
		k++;
		if (i % 7 == 3) { a[i] = 1; }
		b[i] = 2;
	}
	// steps in front of continue, in the heading, and in both arms
	k = 0;
	int *p = a;
	for (int i = 0, j = N - 1; i < j; i++, j--) {
		*p++ = b[j];
		if (i == 5)
			continue;
		b[k] = a[j];
	}
	*p = 1;
	l = 0;
	for (int i = 0; i < N; i++) {
		if (i < 10) {
			l += 2;
			a[l] = 1;
			continue;
		} else if (i == 20) {
			l++;
			l++;
			continue;
		}
		l += 2;
		b[l] = 1;
	}
	a[l] = 5;
	for (int i = 0; i < 6; i++)
		part(a + 10 * i, i);
	p = b;
	for (int i = 0; i < N; i++) {
		*p = 1;
		p += 2;
		if (i > 30)
			continue;
		p[-1] = 2;
	}
	int i = 0;
	while (i < 20) {
		i++;
		if (i == 4)
			continue;
		a[i] = b[i];
	}
}
