// Loops over rows and over columns, timed: the program of the articles.
#include <chrono>
#include <iostream>
#ifndef N
#define N 4000
#endif
#ifndef TIMES
#define TIMES 1
#endif
using namespace std;

static int a[N][N];

__attribute__((noinline)) void loop1() {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i][j]++;
}

__attribute__((noinline)) void loop2() {
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++)
      a[i][j]++;
}

template <typename F> double milliseconds(F f) {
  auto start = chrono::steady_clock::now();
  for (int i = 0; i < TIMES; i++)
    f();
  return chrono::duration<double, milli>(chrono::steady_clock::now() - start).count();
}

int main() {
  cout << "by rows " << milliseconds(loop1) << " ms, ";
  cout << "by columns " << milliseconds(loop2) << " ms" << endl;
}
