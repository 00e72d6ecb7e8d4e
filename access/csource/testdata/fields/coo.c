const int row[9] = {0, 0, 1, 2, 2, 3, 4, 4, 4}, col[9] = {1, 4, 2, 0, 3, 3, 0, 1, 4};
double val[9], x[5], y[5];
void kernel(void) { for (int t = 0; t < 5; t++) { for (int i = 0; i < 5; i++) y[i] = 0; for (int k = 0; k < 9; k++) y[row[k]] += val[k] * x[col[k]]; } }
