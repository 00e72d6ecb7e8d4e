// Functions with steps, remainders and early returns, called in loops with steps.
#define N 30
int a[N * N], b[N * N], s;
static int dot(const int *x, const int *y, int n)
{
	int t = 0;
	if (n == 0) return 0;
	while (n > 0) {
		t += *x++ * *y++;
		n--;
	}
	return t;
}
static void ring(int *x, int at)
{
	int k = at % 4;
	k++;
	x[k] = 1;
	x[k++] = 2;
	x[k] = 3;
	if (at > 3) { x[at]++; return; }
	k += 2;
	x[k] = 4;
}
void both(void)
{
	for (int i = 0; i < 9; i++)
		a[i % 4] = dot(a + i, b + i, i);
	for (int i = 0; i < 9; i++)
		ring(a, i);
	int k = 3;
	for (int i = 0; i < 9; i++) {
		ring(b + i, 2);b[k] = 1;
		k++;
		if (i == 3)
			continue;
		a[i] = 0;
	}
	for (int i = 0; i < 3; i++)
		ring(a, k + i);
	a[k] = 1;
}
