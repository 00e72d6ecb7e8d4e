/* 3mm: three products of matrices, G = (A*B)*(C*D). */
#ifndef NI
#define NI 800
#endif
#ifndef NJ
#define NJ 900
#endif
#ifndef NK
#define NK 1000
#endif
#ifndef NL
#define NL 1100
#endif
#ifndef NM
#define NM 1200
#endif

double A[NI][NK], B[NK][NJ], C[NJ][NM], D[NM][NL], E[NI][NJ], F[NJ][NL], G[NI][NL];

void three_products(void)
{
	int i, j, k;
#pragma scop
	for (i = 0; i < NI; i++)
		for (j = 0; j < NJ; j++) {
			E[i][j] = 0.0;
			for (k = 0; k < NK; ++k)
				E[i][j] += A[i][k] * B[k][j];
		}
	for (i = 0; i < NJ; i++)
		for (j = 0; j < NL; j++) {
			F[i][j] = 0.0;
			for (k = 0; k < NM; ++k)
				F[i][j] += C[i][k] * D[k][j];
		}
	for (i = 0; i < NI; i++)
		for (j = 0; j < NL; j++) {
			G[i][j] = 0.0;
			for (k = 0; k < NJ; ++k)
				G[i][j] += E[i][k] * F[k][j];
		}
#pragma endscop
}
