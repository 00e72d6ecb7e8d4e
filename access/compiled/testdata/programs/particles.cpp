// A class of templates with vectors, which grow and are copied.
#include <cstddef>
#include <vector>

template <typename T> struct vec {
  T x, y, z;
  vec operator+(const vec &o) const { return {x + o.x, y + o.y, z + o.z}; }
  vec operator*(T s) const { return {x * s, y * s, z * s}; }
};

template <typename T> class particles {
public:
  void add(vec<T> at, vec<T> speed) {
    at_.push_back(at);
    speed_.push_back(speed);
  }
  void move(T time) {
    for (std::size_t i = 0; i < at_.size(); i++)
      at_[i] = at_[i] + speed_[i] * time;
  }
  // The fast ones, as a system of their own.
  particles fast(T least) const {
    particles out;
    for (std::size_t i = 0; i < at_.size(); i++)
      if (speed_[i].x > least)
        out.add(at_[i], speed_[i]);
    return out;
  }
  std::size_t size() const { return at_.size(); }

private:
  std::vector<vec<T>> at_, speed_;
};

__attribute__((noinline)) std::size_t simulate(int n) {
  particles<double> all;
  for (int i = 0; i < n; i++)
    all.add({i * 1.0, 0, 0}, {i % 8 * 1.0, 1, 2});
  std::size_t sum = 0;
  for (int step = 0; step < 4; step++) {
    all.move(0.25);
    sum += all.fast(3).size();
  }
  return sum;
}

int main() { return simulate(40000) == 0; }
