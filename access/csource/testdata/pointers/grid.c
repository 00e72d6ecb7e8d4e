// A grid that is one struct, finite elements by their nodes, and a union of two views of the same numbers.
struct grid { double h[6][8], u[6][9], v[7][8]; long steps[6]; } grid;
union view { float f[4]; struct { float x, y, z, w; } v; unsigned char bytes[16]; } views[5];
struct element { int nodes[4]; struct { double k[4][4], load[4]; } m; } elements[3];

void pointers(void)
{
	struct grid *const g = &grid;
	for (int i = 0; i < 6; i++) {
		double *h = g->h[i], *u = &g->u[i][0];
		double (*v)[8] = &g->v[i];
		for (int j = 0; j < 8; j++)
			h[j] += u[j] - u[j + 1] + v[0][j] - v[1][j];
		(*g).steps[i]++;
		*(g->steps + i) += *g->steps;
	}
	for (int i = 0; i < 5; i++) {
		union view *one = views + i;
		float *f = one->f;
		one->v.x = f[1] + f[3];
		unsigned char *bytes = one->bytes;
		for (int k = 0; k < 16; k += 4)
			bytes[k] = bytes[k + 3];
		one->v.w *= (&one->v)->y;
	}
	for (int e = 0; e < 3; e++) {
		struct element *el = &elements[e];
		double (*k)[4] = el->m.k, *load = el->m.load;
		const int *nodes = el->nodes;
		for (int r = 0; r < 4; r++) {
			load[r] = nodes[r] + nodes[3 - r];
			for (int c = 0; c < 4; c++)
				k[r][c] += k[c][r] * load[c] + *k[c];
		}
	}
}

void plain(void)
{
	for (int i = 0; i < 6; i++) {
		for (int j = 0; j < 8; j++)
			grid.h[i][j] += grid.u[i][j] - grid.u[i][j + 1] + grid.v[i][j] - grid.v[i + 1][j];
		grid.steps[i]++;
		grid.steps[i] += grid.steps[0];
	}
	for (int i = 0; i < 5; i++) {
		views[i].v.x = views[i].f[1] + views[i].f[3];
		for (int k = 0; k < 16; k += 4)
			views[i].bytes[k] = views[i].bytes[k + 3];
		views[i].v.w *= views[i].v.y;
	}
	for (int e = 0; e < 3; e++)
		for (int r = 0; r < 4; r++) {
			elements[e].m.load[r] = elements[e].nodes[r] + elements[e].nodes[3 - r];
			for (int c = 0; c < 4; c++)
				elements[e].m.k[r][c] += elements[e].m.k[c][r] * elements[e].m.load[c] + elements[e].m.k[c][0];
		}
}
