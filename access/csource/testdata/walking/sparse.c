// Sparse storage of fixed width: values and columns that one index goes through, and a stencil's coefficients.
#define ROWS 15
#define WIDTH 5
double value[ROWS * WIDTH], x[ROWS + WIDTH], y[ROWS], band[3 * ROWS];
int column[ROWS * WIDTH];

void walking(void)
{
	int at = 0;
	for (int i = 0; i < ROWS; i++) {
		double s = 0;
		for (int k = 0; k < WIDTH; k++, at++) {
			int c = column[at];
			s += value[at] * x[i + k] + c;
		}
		y[i] = s;
	}
	const double *v = value + ROWS * WIDTH;
	for (int i = ROWS - 1; i >= 0; i--) {
		v -= WIDTH;
		const double *e = v, *p = x + i;
		for (int k = 0; k < WIDTH; k++)
			y[i] -= *e++ * *p++;
	}
	double *b = band;
	for (int i = 0; i < ROWS; i++) {
		double lower = *b++, middle = *b++, upper = *b++;
		y[i] = lower + middle + upper;
	}
	long nnz = 0;
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < ROWS; j += 5)
			column[nnz++] = j;
	y[0] = nnz;
	for (long n = 0; n < nnz; n++)
		y[1] += column[n];
}
