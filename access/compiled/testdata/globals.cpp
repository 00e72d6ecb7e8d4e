// Variables whose symbols are mangled.
#include <iostream>

namespace outer {
int plain[10];
namespace {
int hidden[20];
}
}

struct S {
  static int member[30];
};
int S::member[30];

template <typename T> struct box {
  static T held[40];
};
template <typename T> T box<T>::held[40];

static int file[50];
extern "C" int c[70];
int c[70];

template <int N> __attribute__((noinline)) void fill(int *at) {
  for (int i = 0; i < N; i++)
    at[i] += i;
}

__attribute__((noinline)) int *local() {
  static int kept[60];
  return kept;
}

__attribute__((noinline)) void all() {
  fill<10>(outer::plain);
  fill<20>(outer::hidden);
  fill<30>(S::member);
  fill<40>(box<int>::held);
  fill<50>(file);
  fill<60>(local());
  fill<70>(c);
  std::cout << std::endl;
}

int main() { all(); }
