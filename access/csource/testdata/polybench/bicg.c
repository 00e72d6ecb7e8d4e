/* bicg: the two products of a step of BiCG, s = A'*r and q = A*p. */
#ifndef M
#define M 1900
#endif
#ifndef N
#define N 2100
#endif

double A[N][M], p[M], q[N], r[N], s[M];

void bicg(void)
{
	int i, j;
#pragma scop
	for (i = 0; i < M; i++)
		s[i] = 0;
	for (i = 0; i < N; i++) {
		q[i] = 0.0;
		for (j = 0; j < M; j++) {
			s[j] = s[j] + r[i] * A[i][j];
			q[i] = q[i] + A[i][j] * p[j];
		}
	}
#pragma endscop
}
