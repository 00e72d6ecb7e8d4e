// Stencils with a pointer to each row, in two dimensions and in three.
#define NX 8
#define NY 11
float u[NX][NY], v[NX][NY], p[4][6][7], q[4 * 6 * 7];

void pointers(void)
{
	for (int t = 0; t < 2; t++) {
		for (int i = 1; i < NX - 1; i++) {
			const float *up = u[i - 1], *mid = u[i], *down = u[i + 1];
			float *out = v[i];
			for (int j = 1; j < NY - 1; j++)
				out[j] = 0.2f * (mid[j] + mid[j - 1] + mid[j + 1] + up[j] + down[j]);
		}
		for (int i = 1; i < NX - 1; i++) {
			float *to = &u[i][1];
			const float *from = &v[i][1];
			for (int j = -1; j < NY - 1; j++)
				to[j] = from[j];
		}
	}
	for (int z = 1; z < 3; z++) {
		const float (*plane)[7] = p[z];
		const float (*below)[7] = p[z - 1], (*above)[7] = &p[z + 1][0];
		for (int y = 1; y < 5; y++) {
			const float *row = plane[y];
			float *at = q + (z * 6 + y) * 7;
			for (int x = 1; x < 6; x++)
				at[x] = row[x - 1] + row[x + 1] + plane[y - 1][x] + (*(plane + y + 1))[x] + below[y][x] + above[y][x];
		}
	}
}

void plain(void)
{
	for (int t = 0; t < 2; t++) {
		for (int i = 1; i < NX - 1; i++)
			for (int j = 1; j < NY - 1; j++)
				v[i][j] = 0.2f * (u[i][j] + u[i][j - 1] + u[i][j + 1] + u[i - 1][j] + u[i + 1][j]);
		for (int i = 1; i < NX - 1; i++)
			for (int j = 0; j < NY; j++)
				u[i][j] = v[i][j];
	}
	for (int z = 1; z < 3; z++)
		for (int y = 1; y < 5; y++)
			for (int x = 1; x < 6; x++)
				q[(z * 6 + y) * 7 + x] = p[z][y][x - 1] + p[z][y][x + 1] + p[z][y - 1][x] + p[z][y + 1][x] + p[z - 1][y][x] + p[z + 1][y][x];
}
