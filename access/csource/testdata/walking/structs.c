// Structs and rows that pointers go through.
#define N 19
#define M 6
typedef struct { double x, y, z; int cell; float v[3]; } body;
body bodies[N];
double m[N][M], total[N], lengths[M];
int cells[N];
struct { double grid[40]; float small[40]; } all;

void walking(void)
{
	for (body *b = bodies; b < &bodies[N]; b++)
		b->x += b->v[0] * 0.1 + b->v[2];
	body *b = bodies + N;
	int *cell = cells;
	for (int i = 0; i < N; i++) {
		--b;
		*cell++ = b->cell;
		(*b).z = b[0].y;
	}
	double (*row)[M] = m, *t = total;
	while (row != m + N) {
		for (int j = 0; j < M; j++)
			*t += (*row)[j];
		t++;
		row++;
	}
	double *g = all.grid;
	float *s = all.small + 39;
	for (int i = 0; i < 40; i++)
		*g++ = *s--;
	for (int j = 0; j < M; j++) {
		double *p = &lengths[j];
		for (double (*r)[M] = &m[0]; r < m + N; r++)
			*p += (*r)[j];
	}
}

void plain(void)
{
	for (int i = 0; i < N; i++)
		bodies[i].x += bodies[i].v[0] * 0.1 + bodies[i].v[2];
	for (int i = 0; i < N; i++) {
		cells[i] = bodies[N - 1 - i].cell;
		bodies[N - 1 - i].z = bodies[N - 1 - i].y;
	}
	for (int i = 0; i < N; i++)
		for (int j = 0; j < M; j++)
			total[i] += m[i][j];
	for (int i = 0; i < 40; i++)
		all.grid[i] = all.small[39 - i];
	for (int j = 0; j < M; j++)
		for (int i = 0; i < N; i++)
			lengths[j] += m[i][j];
}
