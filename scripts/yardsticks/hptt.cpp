// Times HPTT and memcpy on demand. Arguments: bytes of an element (4 or 8; with others
// there is memcpy alone), shape and order of the dims as in 'a,b,c', the last dim of the
// shape fastest. It prints "ready", and for each line on stdin that begins with h (HPTT,
// a plan by MEASURE on one thread) or m (memcpy) the least ns of three copies, one more
// of which went before off the clock.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <hptt.h>
#include <transpose.h>

static std::vector<int> numbers(const char *text) {
  std::vector<int> all;
  std::stringstream in(text);
  for (std::string word; std::getline(in, word, ',');) all.push_back(atoi(word.c_str()));
  return all;
}

static double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static char *memory(size_t bytes) {
  char *p = (char *)aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  memset(p, 1, bytes);
  return p;
}

template <class T>
static std::function<void()> planned(const char *from, char *to, const std::vector<int> &shape, const std::vector<int> &order) {
  auto plan = std::make_shared<hptt::Transpose<T>>(shape.data(), order.data(), nullptr, nullptr, (int)shape.size(), (const T *)from,
                                                   (T)1, (T *)to, (T)0, hptt::MEASURE, 1, nullptr, true);
  plan->createPlan();
  return [plan] { plan->execute(); };
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  size_t size = atoi(argv[1]), bytes = size;
  auto shape = numbers(argv[2]), order = numbers(argv[3]);
  for (int n : shape) bytes *= n;
  char *from = memory(bytes), *to = memory(bytes);
  std::function<void()> copy = [&] { memcpy(to, from, bytes); }, hptt = copy;
  if (size == 4) hptt = planned<float>(from, to, shape, order);
  if (size == 8) hptt = planned<double>(from, to, shape, order);
  puts("ready");
  fflush(stdout);
  for (char line[16]; fgets(line, sizeof line, stdin);) {
    auto &run = line[0] == 'h' ? hptt : copy;
    run();
    double best = 1e30;
    for (int i = 0; i < 3; i++) {
      double start = now();
      run();
      best = std::min(best, now() - start);
    }
    printf("%.0f\n", best);
    fflush(stdout);
  }
}
