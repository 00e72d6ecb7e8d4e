// Buffers by an if, in one direction and back, and by inner conditions.
#define N 12
double a[N], b[N], c[N][N];
void turns(void)
{
	double *from, *to;
	for (int t = 0; t < 6; t++) {
		if (t % 3 == 0) {
			from = a;
			to = b;
		} else if (t % 3 == 1) {
			from = b;
			to = c[t];
		} else {
			from = c[t - 1];
			to = a;
		}
		for (int i = 0; i < N - 1; i++)
			to[i] = from[i + 1];
		if (t == 4)
			continue;
		*to++ = *from;
		*to = 1;
	}
}
