/* fdtd-2d: finite differences in the time domain, of an electric and a magnetic field. */
#ifndef TMAX
#define TMAX 500
#endif
#ifndef NX
#define NX 1000
#endif
#ifndef NY
#define NY 1200
#endif

double _fict_[TMAX], ex[NX][NY], ey[NX][NY], hz[NX][NY];

void fdtd_2d(void)
{
	int t, i, j;
#pragma scop
	for (t = 0; t < TMAX; t++) {
		for (j = 0; j < NY; j++)
			ey[0][j] = _fict_[t];
		for (i = 1; i < NX; i++)
			for (j = 0; j < NY; j++)
				ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
		for (i = 0; i < NX; i++)
			for (j = 1; j < NY; j++)
				ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
		for (i = 0; i < NX - 1; i++)
			for (j = 0; j < NY - 1; j++)
				hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
	}
#pragma endscop
}
