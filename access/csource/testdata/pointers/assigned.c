// Calls within what a compound assignment adds, and parameters that point to what is volatile.
#define N 16
double a[N], b[N], m[N][N];

static double take(volatile double *from, int count)
{
	if (count > 3)
		count = 3;
	for (int i = 0; i < count; i++)
		from[i] = i;
	return from[count];
}

static double next(const volatile double x[], double by) { return x[1] * by; }

void pointers(void)
{
	double t, u;
	for (int i = 1; i < 8; i++) {
		double *row = m[i];
		a[i] += t = take(row, i);
		b[i] -= (u = next(&row[i], b[0]), take(a + i, 2));
		row[i] *= i > 4 ? take(b, i - 4) : i > 2 ? a[0] : next(b, a[1]);
		a[i] /= t = u = (double)next(row, 2);
		b[i + 1] += i > 3 ? 2 : a[i];
		*row += take(&b[i], i);
	}
}
