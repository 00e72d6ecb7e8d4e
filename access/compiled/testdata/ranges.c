// What the compiler writes out itself, calls the C library for, or does either with.
#include <stdlib.h>
#include <string.h>

struct small { long at[5]; };
struct large { long at[40]; };

__attribute__((noinline)) void small(struct small *to, struct small *from) {
  for (int i = 0; i < 100; i++)
    to[i] = from[i];
}
__attribute__((noinline)) void large(struct large *to, struct large *from) {
  for (int i = 0; i < 100; i++)
    to[i] = from[i];
}
__attribute__((noinline)) void zero(struct large *to) {
  for (int i = 0; i < 100; i++)
    to[i] = (struct large){{0}};
}
__attribute__((noinline)) void set(char *to) {
  for (int i = 0; i < 100; i++)
    memset(to, i, 256);
}
__attribute__((noinline)) void copy(char *to, char *from) {
  for (int i = 0; i < 100; i++)
    memcpy(to, from, 1600);
}

int main() {
  char *to = malloc(1 << 20), *from = calloc(1 << 20, 1);
  small((void *)(to + 8), (void *)(from + 8));
  large((void *)to, (void *)from);
  zero((void *)to);
  set(to);
  copy(to, from);
  return to[300] == 1;
}
