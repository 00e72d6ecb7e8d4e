double a[8][8]; int piv[8]; double fabs(double);
void kernel(void) { for (int k = 0; k < 8; k++) { int p = k; for (int i = k + 1; i < 8; i++) p = fabs(a[i][k]) > 1 ? i : p; piv[k] = p; for (int i = k + 1; i < 8; i++) { a[i][k] /= a[k][k]; for (int j = k + 1; j < 8; j++) a[i][j] -= a[i][k] * a[k][j]; } } }
