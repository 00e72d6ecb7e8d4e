// Variables that start anew in loops that are cut, and remainders of them.
#define N 40
int a[N * N], b[N * N], s;
void both(void)
{
	// k starts anew in a loop that is cut, and is a remainder then
	int k = 0;
	for (int t = 0; t < 12; t++) {
		k = 0;
		for (int i = 0; i < 5; i++)
			a[k++] = b[t % 3 + i];
		a[k % 3] = 1;
		k = t;
		k++;
		b[k % 4] = 2;
	}
	int *p = a;
	for (int t = 0; t < 12; t++) {
		p = a + t;
		*p++ = b[t % 3];
		*p = t;
		if (t % 3 == 1)
			continue;
		*p++ = 3;
		*p = 4;
	}
	for (int i = 30; i > 0; i -= 3) {
		int j = i;
		j -= 2;
		a[j % 5] = b[j];
		while (j < i + 3) { b[i % 4] = a[j]; j++; if (j == 7) continue; a[0] = 1; }
	}
}
