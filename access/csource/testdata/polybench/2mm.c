/* 2mm: two products of matrices, D = alpha*A*B*C + beta*D. */
#ifndef NI
#define NI 800
#endif
#ifndef NJ
#define NJ 900
#endif
#ifndef NK
#define NK 1100
#endif
#ifndef NL
#define NL 1200
#endif

double A[NI][NK], B[NK][NJ], C[NJ][NL], D[NI][NL], tmp[NI][NJ];

void two_products(double alpha, double beta)
{
#pragma scop
	for (int i = 0; i < NI; i++)
		for (int j = 0; j < NJ; j++) {
			tmp[i][j] = 0.0;
			for (int k = 0; k < NK; k++)
				tmp[i][j] += alpha * A[i][k] * B[k][j];
		}
	for (int i = 0; i < NI; i++)
		for (int j = 0; j < NL; j++) {
			D[i][j] *= beta;
			for (int k = 0; k < NJ; k++)
				D[i][j] += tmp[i][k] * C[k][j];
		}
#pragma endscop
}
