/* jacobi-1d: means of three neighbours. */
#ifndef TSTEPS
#define TSTEPS 500
#endif
#ifndef N
#define N 2000
#endif

double A[N], B[N];

void jacobi_1d(void)
{
	int t, i;
#pragma scop
	for (t = 0; t < TSTEPS; t++) {
		for (i = 1; i < N - 1; i++)
			B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
		for (i = 1; i < N - 1; i++)
			A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
	}
#pragma endscop
}
