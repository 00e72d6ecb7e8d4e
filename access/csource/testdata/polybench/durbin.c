/* durbin: a Toeplitz system, by Levinson and Durbin. */
#ifndef N
#define N 2000
#endif

double r[N], y[N], z[N];

void durbin(void)
{
	double alpha, beta, sum;
	int i, k;
#pragma scop
	y[0] = -r[0];
	beta = 1.0;
	alpha = -r[0];
	for (k = 1; k < N; k++) {
		beta = (1 - alpha * alpha) * beta;
		sum = 0.0;
		for (i = 0; i < k; i++)
			sum += r[k - i - 1] * y[i];
		alpha = -(r[k] + sum) / beta;
		for (i = 0; i < k; i++)
			z[i] = y[i] + alpha * y[k - i - 1];
		for (i = 0; i < k; i++)
			y[i] = z[i];
		y[k] = alpha;
	}
#pragma endscop
}
