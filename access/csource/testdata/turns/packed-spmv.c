// A symmetric matrix, packed by columns as LAPACK has it, times a vector (dspmv), with its running subscripts.
#define N 14
double ap[N * (N + 1) / 2], x[N], y[N];
void turns(void)
{
	int kk = 0;
	for (int j = 0; j < N; j++) {
		double t1 = x[j], t2 = 0;
		int k = kk;
		for (int i = 0; i <= j - 1; i++) {
			y[i] += t1 * ap[k];
			t2 += ap[k] * x[i];
			k++;
		}
		y[j] = y[j] + t1 * ap[kk + j] + t2;
		kk += j + 1;
	}
	double *p = ap;
	for (int j = 0; j < N; j++)
		for (int i = j; i < N; i++)
			y[i] += *p++ * x[j];
}
