// Steps beside tables, around and inside of the loops that these unroll.
#define N 60
const int dx[5] = {0, 1, -1, 7, 3};
int a[N * N], b[N * N], s;
void both(void)
{
	int *p = a;
	for (int i = 1; i < 20; i++) {
		for (int k = 0; k < 5; k++)
			b[20 + i + dx[k]] = 1;
		*p++ = b[i];
		p += 2;
	}
	*p = 3;
	int count = 0;
	for (int k = 0; k < 5; k++) {
		count += a[10 + dx[k]];
		count++;
	}
	for (int k = 0; k < 5; k++) {
		int *q = a + 40, c = 0;
		int d = dx[k] + 3;
		for (int i = 0; i < 4; i++) {
			*q++ = b[d];
			c++;
			b[c + d] = *q;
		}
		q[0] = dx[k];
		int e = 2;
		e++;
		b[dx[e]] = 1;
	}
	int k = 2;
	k++;
	b[dx[k]] = a[dx[k - 1] + 4];
	for (int j = 0; j < 5; j++) {
		int z = 0;
		for (int i = 0; i < 3; i++, z++)
			a[z + dx[j] + 9] = 1;
		b[z] = dx[j];
	}
}
