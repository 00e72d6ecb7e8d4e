// A walk along a linked list whose nodes are in no order.
#include <stdlib.h>

struct node {
  struct node *next;
  long value, unused[4];
};

__attribute__((noinline)) long walk(const struct node *n) {
  long sum = 0;
  for (; n; n = n->next)
    sum += n->value;
  return sum;
}

enum { NODES = 1 << 17, STEP = 40503 };

int main(void) {
  struct node *all = malloc(sizeof *all * NODES);
  unsigned at = 0;
  for (int i = 0; i < NODES; i++) {
    unsigned next = (at + STEP) % NODES;
    all[at].next = i < NODES - 1 ? &all[next] : NULL;
    all[at].value = i;
    at = next;
  }
  return walk(all) == 0;
}
