#include <stdint.h>
#define W 12
#define T 9
uint64_t cells[2][W];
void kernel(void) { for (int t = 0; t < T; t++) { uint64_t *a = cells[t & 1], *b = cells[(t + 1) & 1]; for (int i = 0; i < W; i++) { uint64_t l = a[i] << 1 | a[(i + W - 1) % W] >> 63, r = a[i] >> 1 | a[i + 1 == W ? 0 : i + 1] << 63; b[i] = l ^ (a[i] | r); } } }
