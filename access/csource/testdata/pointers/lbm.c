// A lattice Boltzmann step (D2Q9): cells of nine numbers, collided in place and streamed to where they go.
#define NX 7
#define NY 6
typedef struct { double f[9], rho; } cell;
cell from[NX][NY], to[NX][NY];
const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
double w[9], slab[2][NX * NY * 9];

void pointers(void)
{
	for (int i = 1; i < NX - 1; i++)
		for (int j = 1; j < NY - 1; j++) {
			cell *c = &from[i][j];
			double *f = c->f, *up = &f[2], rho = 0;
			for (int k = 0; k < 9; k++)
				rho += f[k];
			c->rho = rho;
			for (int k = 0; k < 9; k++)
				f[k] -= 0.6 * (f[k] - w[k] * c->rho);
			up[0] += up[2];
			cell *next = &to[i][j];
			next->f[0] = f[0];
			cell (*rows)[NY] = to + i + 1;
			rows[0][j].f[1] = f[1];
			(next + 1)->f[2] = f[2];
			to[i - 1][j].f[3] = f[3];
			(*(next - 1)).f[4] = f[4];
		}
	double *src = slab[0], *dst = slab[1];
	for (int i = 1; i < NX - 1; i++)
		for (int j = 1; j < NY - 1; j++) {
			const double *at = src + (i * NY + j) * 9;
			double *here = &dst[(i * NY + j) * 9], *east = here + NY * 9, *north = here + 9;
			here[0] = at[0];
			east[1] = at[1];
			north[2] = at[2];
			east[9 + 5] = at[5];
			north[-2 * 9 + 4] = at[4];
		}
}

void plain(void)
{
	for (int i = 1; i < NX - 1; i++)
		for (int j = 1; j < NY - 1; j++) {
			double rho = 0;
			for (int k = 0; k < 9; k++)
				rho += from[i][j].f[k];
			from[i][j].rho = rho;
			for (int k = 0; k < 9; k++)
				from[i][j].f[k] -= 0.6 * (from[i][j].f[k] - w[k] * from[i][j].rho);
			from[i][j].f[2] += from[i][j].f[4];
			to[i][j].f[0] = from[i][j].f[0];
			to[i + 1][j].f[1] = from[i][j].f[1];
			to[i][j + 1].f[2] = from[i][j].f[2];
			to[i - 1][j].f[3] = from[i][j].f[3];
			to[i][j - 1].f[4] = from[i][j].f[4];
		}
	for (int i = 1; i < NX - 1; i++)
		for (int j = 1; j < NY - 1; j++) {
			slab[1][(i * NY + j) * 9] = slab[0][(i * NY + j) * 9];
			slab[1][((i + 1) * NY + j) * 9 + 1] = slab[0][(i * NY + j) * 9 + 1];
			slab[1][(i * NY + j + 1) * 9 + 2] = slab[0][(i * NY + j) * 9 + 2];
			slab[1][((i + 1) * NY + j + 1) * 9 + 5] = slab[0][(i * NY + j) * 9 + 5];
			slab[1][(i * NY + j - 1) * 9 + 4] = slab[0][(i * NY + j) * 9 + 4];
		}
}
