// A triangle is packed and unpacked, by pointers, in a do and in a while.
#define N 10
float m[N][N], packed[N * (N + 1) / 2];
void turns(void)
{
	float *p = packed;
	int i = 0;
	do {
		float *row = m[i];
		int n = N - i;
		while (n-- > 0)
			*p++ = row[n];
	} while (++i < N);
	for (int j = N - 1; j >= 0; j--)
		for (int k = N; k-- > j;)
			m[k][j] = *--p;
}
