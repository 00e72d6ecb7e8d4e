// Cholesky of a lower triangle that is packed by rows.
#define N 9
#define P(i, j) ((i) * ((i) + 1) / 2 + (j))
double ap[N * (N + 1) / 2];
void turns(void)
{
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < i; j++) {
			double s = ap[P(i, j)];
			for (int k = 0; k < j; k++)
				s -= ap[P(i, k)] * ap[P(j, k)];
			ap[P(i, j)] = s / ap[P(j, j)];
		}
		double d = ap[P(i, i)];
		for (int k = 0; k < i; k++)
			d -= ap[P(i, k)] * ap[P(i, k)];
		ap[P(i, i)] = d;
	}
}
