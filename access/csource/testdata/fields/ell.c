const int col[5][3] = {{0, 3, 1}, {1, 2, 4}, {0, 0, 0}, {3, 0, 2}, {4, 1, 1}};
double val[5][3], x[5], y[5];
void kernel(void) { for (int t = 0; t < 5; t++) { for (int i = 0; i < 5; i++) { double s = 0; for (int k = 0; k < 3; k++) s += val[i][k] * x[col[i][k]]; y[i] = s; } } }
