#define N 30
#define K 5
float x[N], top[K + 1];
void kernel(void) { for (int i = 0; i < N; i++) { top[K] = x[i]; for (int k = K; k > 0; k--) { float a = top[k - 1], b = top[k]; top[k - 1] = a > b ? a : b; top[k] = a > b ? b : a; } } }
