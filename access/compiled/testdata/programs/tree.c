// A binary tree, which is built and summed by recursion.
#include <stdlib.h>

struct tree {
  struct tree *left, *right;
  long key, sum;
};

__attribute__((noinline)) struct tree *build(struct tree *fresh, long from, long to) {
  if (from >= to)
    return NULL;
  long middle = (from + to) / 2;
  struct tree *t = &fresh[middle * 7919 % (1 << 16)];
  t->key = middle;
  t->left = build(fresh, from, middle);
  t->right = build(fresh, middle + 1, to);
  return t;
}

__attribute__((noinline)) long sum(struct tree *t) {
  if (!t)
    return 0;
  return t->sum = t->key + sum(t->left) + sum(t->right);
}

__attribute__((noinline)) long all(struct tree *fresh) {
  struct tree *t = build(fresh, 0, 1 << 16);
  return sum(t) + sum(t);
}

int main(void) { return all(calloc(1 << 16, sizeof(struct tree))) == 0; }
