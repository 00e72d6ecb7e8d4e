/* A ring entered anew within a loop that begins where another ring is. */
double a[40], b[40];
void kernel(void) {
	int r = 4, p = 0;
	for (int i = 0; i < 19; i++) {
		for (int j = 0; j < 5; j++) {
			for (int k = r; k < 3; k++) {
				p = j;
				for (int l = 0; l < 9; l++) {
					a[k] += b[p];
					if (++p > 14) p = 0;
				}
				if (--r < 0)
					r += 5;
			}
		}
		r = (r + 1) % 5;
	}
}
