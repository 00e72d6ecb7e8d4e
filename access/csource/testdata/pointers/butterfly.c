// The butterflies of a transform of 16 numbers, each by a pointer to its lower and to its upper half.
#define N 16
double re[N], im[N], wr[N / 2], wi[N / 2];
struct { double r, i; } z[N];

#define STAGE(half) \
	for (int k = 0; k < N; k += 2 * (half)) { \
		double *lo = re + k, *hi = lo + (half), *ilo = &im[k], *ihi = &ilo[half]; \
		for (int j = 0; j < (half); j++) { \
			double tr = wr[j] * hi[j] - wi[j] * ihi[j], ti = wr[j] * ihi[j] + wi[j] * hi[j]; \
			hi[j] = lo[j] - tr; \
			ihi[j] = ilo[j] - ti; \
			lo[j] += tr; \
			ilo[j] += ti; \
		} \
	}
#define PLAIN(half) \
	for (int k = 0; k < N; k += 2 * (half)) \
		for (int j = 0; j < (half); j++) { \
			double tr = wr[j] * re[k + (half) + j] - wi[j] * im[k + (half) + j], ti = wr[j] * im[k + (half) + j] + wi[j] * re[k + (half) + j]; \
			re[k + (half) + j] = re[k + j] - tr; \
			im[k + (half) + j] = im[k + j] - ti; \
			re[k + j] += tr; \
			im[k + j] += ti; \
		}

void pointers(void)
{
	STAGE(1) STAGE(2) STAGE(4) STAGE(8)
	for (int i = 0; i < N / 2; i++) {
		double *r = &(z + i)->r;
		*r = re[i];
		double *m = &z[N - 1 - i].i;
		m[0] += im[i] * *r;
	}
}

void plain(void)
{
	PLAIN(1) PLAIN(2) PLAIN(4) PLAIN(8)
	for (int i = 0; i < N / 2; i++) {
		z[i].r = re[i];
		z[N - 1 - i].i += im[i] * z[i].r;
	}
}
