#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <pthread.h>
#include <sys/wait.h>
double a[1000];
__attribute__((noinline)) void f(int n) { for (int i = 0; i < n; i++) a[i] += 1; }
static void *t(void *x) { f(10); return x; }
int main(int argc, char **argv) {
  int c = argc > 1 ? argv[1][0] : 0;
  f(1000);
  if (c == 'c') *(volatile int *)8 = 1;
  if (c == 'x') { fprintf(stderr, "could not open foo\n"); return 3; }
  if (c == 'f') { if (!fork()) { f(500); _exit(0); } wait(0); }
  if (c == 't') { pthread_t p; pthread_create(&p, 0, t, 0); pthread_join(p, 0); }
  if (c == 'd') { for (int i = 0; i < 1024; i++) close(i); f(1000); }
  if (c == 'g') { char *s = malloc(1 << 20); memset(s, 'x', 1 << 20); for (int i = 0; i < 64; i++) fwrite(s, 1, 1 << 20, stdout); }
  if (c == 'l') { for (;;) f(1000); }
  if (c == 'a') abort();
  if (c == '_') _exit(0);
  return 0;
}
