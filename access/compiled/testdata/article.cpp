#include <iostream>
#include <chrono>
using namespace std;
static int a[400][400];
void __attribute__((noinline)) loop1() { long s = 0; for (int i = 0; i < 400; i++) for (int j = 0; j < 400; j++) a[i][j] += i; }
void __attribute__((noinline)) loop2() { for (int i = 0; i < 400; i++) for (int j = 0; j < 400; j++) a[j][i] += i; }
int main() {
  auto t0 = chrono::steady_clock::now();
  loop1();
  auto t1 = chrono::steady_clock::now();
  loop2();
  auto t2 = chrono::steady_clock::now();
  cout << chrono::duration<double, milli>(t1 - t0).count() << " ms, " << chrono::duration<double, milli>(t2 - t1).count() << " ms" << endl;
  int *p = new int[10]; p[3] = a[1][1]; return p[3] == 5;
}
