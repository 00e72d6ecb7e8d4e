// Steps of conjugate gradients on a band matrix, and of Runge and Kutta on bodies, by functions that get arrays and pointers.
#define N 12
#define MIN(a, b) ((a) < (b) ? (a) : (b))
typedef struct { double x[3], v[3]; } body;
double A[N][N], x[N], r[N], p[N], q[N], k[4][N], history[N];
body bodies[3];

static double dot(int n, const double *a, const double *b)
{
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static void axpy(int n, double alpha, const double *restrict from, double *restrict to)
{
	for (int i = 0; i < n; i++)
		to[i] += alpha * from[i];
}

static void multiply(int n, const double a[N][N], const double v[N], double *out)
{
	for (int i = 0; i < n; i++) {
		const int low = i > 2 ? i - 2 : 0, high = MIN(i + 3, n);
		out[i] = dot(high - low, &a[i][low], v + low);
		out[i] -= dot(i, a[i], v);
	}
}

static void derive(const double *from, double (*to)[N], int stage)
{
	double *row = to[stage];
	for (int i = 1; i < N - 1; i++)
		row[i] = from[i + 1] - from[i - 1];
}

static void kick(body *one, const body *other, double by)
{
	for (int d = 0; d < 3; d++)
		one->v[d] += by * (other->x[d] - one->x[d]);
}

static double last(const double *of) { return of[N - 1]; }

static void keep(double *to, double value) { *to = value; }

void pointers(void)
{
	for (int t = 0; t < 2; t++) {
		multiply(N, A, p, q);
		double alpha = dot(N, r, r);
		axpy(N, alpha, p, x);
		double beta = dot(N, p, q);
		axpy(N, -alpha / beta, q, r);
		keep(&history[t], x[t] + alpha);
		history[t + 1] += last(q);
		for (int s = 0; s < 4; s++) {
			derive(x, k, s);
			axpy(N - s, x[s], k[s], &x[s]);
		}
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 3; j++)
				if (i != j)
					kick(&bodies[i], bodies + j, 0.5);
		body *b = bodies + 1;
		axpy(3, b->v[0], b->v, b->x);
	}
}

void plain(void)
{
	double sum = 0, alpha = 0;
	for (int t = 0; t < 2; t++) {
		for (int i = 0; i < N; i++) {
			for (int j = 0; j < MIN(i + 3, N) - (i > 2 ? i - 2 : 0); j++)
				sum += A[i][(i > 2 ? i - 2 : 0) + j] * p[(i > 2 ? i - 2 : 0) + j];
			q[i] = sum;
			for (int j = 0; j < i; j++)
				sum += A[i][j] * p[j];
			q[i] -= sum;
		}
		for (int i = 0; i < N; i++)
			alpha += r[i] * r[i];
		for (int i = 0; i < N; i++)
			x[i] += alpha * p[i];
		for (int i = 0; i < N; i++)
			sum += p[i] * q[i];
		for (int i = 0; i < N; i++)
			r[i] += sum * q[i];
		history[t] = x[t] + alpha;
		sum = q[N - 1];
		history[t + 1] += sum;
		for (int s = 0; s < 4; s++) {
			for (int i = 1; i < N - 1; i++)
				k[s][i] = x[i + 1] - x[i - 1];
			sum = x[s];
			for (int i = 0; i < N - s; i++)
				x[s + i] += sum * k[s][i];
		}
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 3; j++)
				if (i != j)
					for (int d = 0; d < 3; d++)
						bodies[i].v[d] += 0.5 * (bodies[j].x[d] - bodies[i].x[d]);
		sum = bodies[1].v[0];
		for (int d = 0; d < 3; d++)
			bodies[1].x[d] += sum * bodies[1].v[d];
	}
}
