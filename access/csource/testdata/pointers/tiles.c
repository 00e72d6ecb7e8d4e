// A tiled product that packs a tile, with bounds that are clipped, and a transposition by columns.
#define N 10
#define T 4
#define MIN(a, b) ((a) < (b) ? (a) : (b))
float A[N][N], B[N][N], C[N][N], tile[T][T], column[N];

void pointers(void)
{
	for (int ii = 0; ii < N; ii += T)
		for (int kk = 0; kk < N; kk += T) {
			int ie = MIN(ii + T, N), ke = kk + T;
			if (ke > N)
				ke = N;
			float (*corner)[N] = (float (*)[N])A + ii;
			for (int i = 0; i < ie - ii; i++) {
				const float *src = &corner[i][kk];
				float *dst = tile[i];
				for (int k = 0; k < ke - kk; k++)
					dst[k] = src[k];
			}
			for (int i = ii; i < ie; i++) {
				const float *packed = tile[i - ii] - kk;
				float *c = C[i];
				for (int k = kk; k < ke; k++) {
					const float *b = B[k];
					for (int j = 0; j < N; j++)
						c[j] += packed[k] * b[j];
				}
			}
		}
	for (int j = 0; j < N; j++) {
		float (*down)[N] = &A[N - 1];
		for (int i = 0; i < N; i++)
			column[i] = down[-i][j];
		float *end = column + N, *to = B[j];
		for (int i = N; i > 0; i--)
			to[N - i] = end[-i];
	}
}

void plain(void)
{
	for (int ii = 0; ii < N; ii += T)
		for (int kk = 0; kk < N; kk += T) {
			int ie = MIN(ii + T, N), ke = MIN(kk + T, N);
			for (int i = 0; i < ie - ii; i++)
				for (int k = 0; k < ke - kk; k++)
					tile[i][k] = A[ii + i][kk + k];
			for (int i = ii; i < ie; i++)
				for (int k = kk; k < ke; k++)
					for (int j = 0; j < N; j++)
						C[i][j] += tile[i - ii][k - kk] * B[k][j];
		}
	for (int j = 0; j < N; j++) {
		for (int i = 0; i < N; i++)
			column[i] = A[N - 1 - i][j];
		for (int i = N; i > 0; i--)
			B[j][N - i] = column[N - i];
	}
}
