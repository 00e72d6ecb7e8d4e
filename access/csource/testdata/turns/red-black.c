// A red-black relaxation on levels of which the buffers change at each, and the level's stride too.
#define N 16
double fine[N], coarse[N];
void turns(void)
{
	double *u = fine, *f = coarse;
	int stride = 1;
	for (int level = 0; level < 4; level++) {
		for (int colour = 0; colour < 2; colour++)
			for (int i = 1 + colour; i < N / stride - 1; i += 2)
				u[i * stride] = f[i * stride] + u[(i - 1) * stride] + u[(i + 1) * stride];
		stride *= 2;
		double *t = u;
		u = f;
		f = t;
	}
	for (int i = 0; i < N; i++)
		*(i % 2 ? fine : coarse) += (i & 1 ? coarse : fine)[i];
}
