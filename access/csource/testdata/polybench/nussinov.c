/* nussinov: how a sequence of bases folds, by the most pairs. */
#ifndef N
#define N 2500
#endif

#define SCORE(a, b) ((a) >= (b) ? (a) : (b))
#define MATCH(a, b) ((a) + (b) == 3 ? 1 : 0)

char seq[N];
int table[N][N];

void nussinov(void)
{
	int i, j, k;
#pragma scop
	for (i = N - 1; i >= 0; i--)
		for (j = i + 1; j < N; j++) {
			if (j - 1 >= 0)
				table[i][j] = SCORE(table[i][j], table[i][j - 1]);
			if (i + 1 < N)
				table[i][j] = SCORE(table[i][j], table[i + 1][j]);
			if (j - 1 >= 0 && i + 1 < N) {
				if (i < j - 1)
					table[i][j] = SCORE(table[i][j], table[i + 1][j - 1] + MATCH(seq[i], seq[j]));
				else
					table[i][j] = SCORE(table[i][j], table[i + 1][j - 1]);
			}
			for (k = i + 1; k < j; k++)
				table[i][j] = SCORE(table[i][j], table[i][k] + table[k + 1][j]);
		}
#pragma endscop
}
