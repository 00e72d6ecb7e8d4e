/* An FIR filter on a ring buffer whose place wraps by a ternary, over channels. */
#define N 37
#define TAPS 7
float in[N], out[N], line[TAPS], taps[TAPS];
void kernel(void)
{
	int r = 0;
	for (int i = 0; i < N; i++) {
		line[r] = in[i];
		float sum = 0;
		int k = r;
		for (int t = 0; t < TAPS; t++) {
			sum += taps[t] * line[k];
			k = k == 0 ? TAPS - 1 : k - 1;
		}
		out[i] = sum;
		r = r == TAPS - 1 ? 0 : r + 1;
	}
}
