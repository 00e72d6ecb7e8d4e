const int ptr[6] = {0, 2, 5, 6, 8, 11}; const int col[11] = {0, 3, 1, 2, 4, 0, 1, 3, 0, 2, 4};
double val[11], x[5], y[5];
void kernel(void) { for (int t = 0; t < 5; t++) { for (int i = 0; i < 5; i++) { double s = 0; int b = ptr[i], e = ptr[i + 1]; for (int k = b; k < e; k++) s += val[k] * x[col[k]]; y[i] = s; } } }
