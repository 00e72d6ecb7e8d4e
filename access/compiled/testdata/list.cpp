// A list, a vector and a recursion: what is allocated, inlined and called.
#include <vector>

struct node {
  node *next;
  long value;
};

struct list {
  node *first = nullptr;
  void push(long value) { first = new node{first, value}; }
};

__attribute__((noinline)) long walk(const node *n) {
  long sum = 0;
  for (; n; n = n->next)
    sum += n->value;
  return sum;
}

template <typename T> __attribute__((noinline)) T total(const std::vector<T> &v) {
  T sum = 0;
  for (T x : v)
    sum += x;
  return sum;
}

namespace tree {
__attribute__((noinline)) void fill(int *at, int n) {
  if (n == 0)
    return;
  *at = n;
  fill(at + 1, n - 1);
  __asm__ volatile("" ::: "memory");
}
}

int main() {
  list l;
  for (int i = 0; i < 100; i++)
    l.push(i);
  std::vector<float> v(100000, 1);
  static int numbers[50];
  tree::fill(numbers, 50);
  return walk(l.first) + total(v) < 0;
}
