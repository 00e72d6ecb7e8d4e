#define N 14
#define M 11
#define MAX2(a, b) max2(a, b)
int h[N + 1][M + 1], e[M + 1], score[26][26]; char tb[N + 1][M + 1], q[N], d[M];
static inline int max2(int a, int b) { return a > b ? a : b; }
void kernel(void) { for (int i = 1; i <= N; i++) { int f = 0; for (int j = 1; j <= M; j++) { e[j] = max2(e[j] - 1, h[i - 1][j] - 3); f = max2(f - 1, h[i][j - 1] - 3); h[i][j] = max2(0, max2(max2(e[j], f), h[i - 1][j - 1] + (q[i - 1] == d[j - 1]))); tb[i][j] = h[i][j] == e[j]; } } }
