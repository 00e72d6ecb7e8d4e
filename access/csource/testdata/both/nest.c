// Steps through nests of loops of which one is cut.
#define N 16
int a[N * N * 8], b[N * N * 8], t2[2][N * N], s;
void both(void)
{
	for (int t = 0; t < 6; t++) {
		int *p = t2[t % 2], *q = t2[(t + 1) % 2];
		for (int i = 0; i < N; i++) {
			for (int j = 0; j < N; j++) {
				*p = *q++;
				p++;
			}
		}
	}
	for (int t = 0; t < 6; t++) {
		int k = 0;
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++, k++) {
				if (i == j)
					continue;
				t2[t & 1][k] = t2[1 - (t & 1)][k];
			}
		a[k + t] = 1;
	}
	int k = 0;
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < i; j++) {
			a[j % 2] = b[i];
			if (j == 2) continue;
			a[3] = 4;
		}
		k += 3;
		a[k] = 2;
	}
	int m = 0;
	for (int i = 0; i < N; i++) {
		if (i % 4 == 0) { m += 2; a[0] = 1; } else { m += 1; m++; a[1] = 2; }
	}
	for (int i = 0; i < N; i++) {
		int z = i % 4;
		z++;
		a[z] = b[z + 1];
		for (int j = 0; j < 3; j++) b[z++] = 5;
		a[z] = 1;
	}
}
