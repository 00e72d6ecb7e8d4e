#define N 5
const int ptr[N + 1] = {0, 1, 3, 4, 7, 9}, col[9] = {0, 0, 1, 2, 0, 2, 3, 1, 4};
double val[9], x[N], y[N];
void kernel(void) { for (int r = 0; r < 30; r++) for (int i = 0; i < N; i++) { double s = y[i]; int lo = ptr[i], hi = ptr[i + 1]; for (int k = lo; k < hi - 1; k++) s -= val[k] * x[col[k]]; x[i] = s / val[hi - 1]; } }
