// A hash table with chains: words are counted.
#include <stdlib.h>

struct entry {
  struct entry *next;
  unsigned key, count;
};

struct table {
  struct entry **bucket;
  struct entry *fresh;
  unsigned mask;
};

__attribute__((noinline)) static struct entry *find(struct table *t, unsigned key) {
  struct entry **at = &t->bucket[key * 2654435761u >> 12 & t->mask];
  for (struct entry *e = *at; e; e = e->next)
    if (e->key == key)
      return e;
  struct entry *e = t->fresh++;
  e->key = key;
  e->count = 0;
  e->next = *at;
  return *at = e;
}

__attribute__((noinline)) void count(struct table *t, const unsigned *words, int n) {
  for (int i = 0; i < n; i++)
    find(t, words[i])->count++;
}

enum { WORDS = 400000, DIFFERENT = 60000, BUCKETS = 1 << 15 };

int main(void) {
  struct table t = {calloc(BUCKETS, sizeof *t.bucket), malloc(sizeof *t.fresh * DIFFERENT), BUCKETS - 1};
  unsigned *words = malloc(sizeof *words * WORDS), seed = 7;
  for (int i = 0; i < WORDS; i++) {
    seed = seed * 1664525u + 1013904223u;
    words[i] = (seed >> 9) % DIFFERENT;
  }
  count(&t, words, WORDS);
  return t.fresh == NULL;
}
