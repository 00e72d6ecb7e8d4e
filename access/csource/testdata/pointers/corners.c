// What is seldom written: types of rows, pointers of one name in blocks beside each other, loops downwards, strings of bytes, and
// functions that pass on what they get.
#include <stddef.h>
typedef double row[6];
typedef row *rows;
typedef double *to;
typedef struct { float re, im; } cplx;
typedef struct { cplx c[4]; struct { short s[3]; row r; } in[2]; } node;
double cube[3][4][6], flat[72], tri[21];
row mat[6];
node nodes[2][3];
cplx sig[16];
unsigned short us[40];
char text[30];
long long ll[8];

static void plane(int h, int w, double p[h][w], to out)
{
	for (int y = 0; y < h; y++) {
		to r = p[y];
		for (int x = w - 1; x >= 0; x--)
			out[y * w + x] = r[x] - *(p[0] + x);
	}
}

static void cmul(cplx *o, const cplx *a, const cplx *b)
{
	float re = a->re * b->re - a->im * b->im;
	o->im = a->re * b->im + a->im * b->re;
	o->re = re;
}

static void triangle(rows m, to t, unsigned n)
{
	if (n < 3)
		return;
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j <= i; j++)
			t[j] += m[i][j] * (*(m + j))[i];
}

static float norm(const cplx z[static 1]) { return z->re * z->re + z[0].im * z[0].im; }

static double sum(int n, const double *v)
{
	double s = 0;
	{
		for (int i = n; i-- > 0;) {
			const double *at = v + i;
			s += *at;
		}
	}
	return s;
}

static void deep(node (*n)[3], int k)
{
	node *one = &(*n)[k];
	short *s = one->in[1].s;
	s[k] = s[2 - k] + (*n + k)->in[0].s[0];
	double *r = one->in[k > 0 ? 1 : 0].r;
	r[k] = sum(k + 1, r + 1);
	for (int i = 0; i < 4; i++)
		cmul(&one->c[i], one->c + 3 - i, n[0][2].c);
}

void pointers(void)
{
	for (int z = 0; z < 3; z++) {
		plane(4, 6, cube[z], &flat[z * 24]);
		for (int y = 0; y < 4; y++) {
			double *q = cube[z][y];
			{
				double *p = q + 2;
				p[-2] = q[5];
			}
			{
				double *p = q + 1;
				p[z] = *p;
			}
			if (z < y) {
				rows p = cube[z] + y;
				p[-1][z] = **p;
			}
		}
	}
	triangle(mat, tri, 6);
	triangle(mat + 3, tri + 9, 2u);
	triangle(mat + 3, tri + 9, 3);
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 3; k++)
			deep(nodes + i, k);
	for (int k = 0; k < 16; k += 4) {
		cplx *lo = &sig[k], *hi = lo + 2;
		for (int j = 0; j < 2; j++) {
			float t = norm(hi + j);
			hi[j].re = lo[j].re - t;
			(lo + j)->re += t;
		}
	}
	for (long i = 7; i >= 0; i--) {
		long long *p = ll + 7;
		p[-i] = p[i - 7] + ll[i];
	}
	for (size_t i = 0; i < 30; i += 7) {
		char *c = text + i;
		c[0]++;
		unsigned short *u = us + 39 - i;
		u[0] = *c;
		*(i + us) = 0[u];
	}
	double all = sum(6, mat[2]);
	all += sum(2, mat[1] + 4);
	flat[0] = sum(1, flat), flat[1] -= sum(3, tri);
}
