// Ways that come to the same step by several jumps, in nests and in whiles.
#define N 24
int a[N * N], b[N * N], s;
void both(void)
{
	int k = 0, i = 0;
	int *p = a, *q = b;
	for (int t = 0; t < N; t++) {
		if (t < 3) {
			*p++ = 1;
			continue;
		}
		if (t == 7 || t == 9) {
			p++;
			continue;
		}
		*p = *q;
		p += 1;
		if (t > 20)
			continue;
		b[t] = *p;
	}
	*p = 5;
	while (i < 15) {
		a[i] = 1;
		i += 2;
		if (i == 8)
			continue;
		b[i] = a[3];
	}
	b[i] = 3;
	for (int t = 0; t < 5; t++) {
		for (int u = 0; u < t; u++) {
			if (u == 2)
				continue;
			a[u] = b[t];
		}
		for (int u = 0; u < 4; u++, k++) {
			if (u == t)
				continue;
			a[k] = b[k];
		}
		if (t % 2 == 0)
			continue;
		b[k] = 4;
	}
	b[k] = 5;
	for (int u = 10; u-- > 0;) {
		*q++ = a[u % 3];
		if (u == 4) { continue; }
		*q = 1;
	}
	*q = 6;
}
