# Records iterations.jsonl.gz: the loops of PyTorch 1.13's TensorIterator itself, over random operands.
# Needs PyTorch with its headers (Debian: python3-torch, libtorch-dev) and g++.
# record_iterations.py FILE [CASES [SEED]]; iterations.jsonl.gz was recorded by: record_iterations.py iterations.jsonl.gz 2500 16
#
# kind: "elementwise" (the result is to be allocated), "into" (operand 0 is the destination; with inplace it is the first input,
# too) or "reduction" (of operand 0 over dims). operands have shape and strides. The result: output (shape, strides), and the walk:
# shape, outermost first, and strides of the output and of each input, in elements; or an error.
import gzip, json, os, random, subprocess, sys, tempfile

PROGRAM = r'''
#include <ATen/ATen.h>
#include <ATen/TensorIterator.h>
#include <iostream>
#include <sstream>
using namespace at;
static std::vector<int64_t> list(std::istream& in) {
  size_t n; in >> n;
  std::vector<int64_t> v(n);
  for (auto& x : v) in >> x;
  return v;
}
template <class L> static void print(const L& v) { std::cout << v.size(); for (auto x : v) std::cout << ' ' << x; std::cout << ' '; }
int main() {
  std::string line;
  while (std::getline(std::cin, line)) try {
    std::istringstream in(line);
    char kind; size_t n; in >> kind >> n;
    std::vector<Tensor> t;
    for (size_t i = 0; i < n; i++) { auto shape = list(in), strides = list(in); t.push_back(at::empty_strided(shape, strides)); }
    TensorIteratorConfig config;
    Tensor none, reduced;
    size_t first = 0;
    if (kind == 'e') config.add_owned_output(none);
    if (kind == 'f') { config.add_owned_output(t[0]); config.resize_outputs(false); first = 1; }
    if (kind == 'i') { config.add_owned_output(t[0]); }
    if (kind == 'r') {
      int64_t keep; in >> keep;
      auto dims = list(in);
      reduced = at::sum(t[0], dims, keep);
      auto shape = reduced.sizes().vec(), strides = reduced.strides().vec();
      if (!keep) for (int64_t d = 0; d < t[0].dim(); d++)
        if (dims.empty() || std::find(dims.begin(), dims.end(), d) != dims.end()) { shape.insert(shape.begin() + d, 1); strides.insert(strides.begin() + d, 0); }
      config.add_owned_output(reduced.as_strided(shape, strides)).resize_outputs(false).is_reduction(true);
    }
    config.set_check_mem_overlap(n > first && kind != 'r');
    config.check_all_same_dtype(n > first);
    for (size_t i = first; i < n; i++) config.add_owned_input(t[i]);
    auto iter = config.build();
    auto out = kind == 'r' ? reduced : iter.output();
    std::cout << "ok "; print(out.sizes()); print(out.strides());
    std::vector<int64_t> shape(iter.shape().rbegin(), iter.shape().rend());
    print(shape);
    std::cout << iter.ntensors() << ' ';
    for (int i = 0; i < iter.ntensors(); i++) {
      std::vector<int64_t> strides(iter.strides(i).rbegin(), iter.strides(i).rend());
      for (auto& s : strides) s /= iter.element_size(i);
      print(strides);
    }
    std::cout << '\n';
  } catch (const std::exception& e) { std::cout << "error\n"; }
}
'''

def build(folder):
    source, program = os.path.join(folder, 'iterations.cpp'), os.path.join(folder, 'iterations')
    open(source, 'w').write(PROGRAM)
    subprocess.run(['g++', '-O1', '-std=c++17', source, '-o', program, '-ltorch_cpu', '-lc10'], check=True)
    return program

def dense(shape, order):
    strides, step = [0] * len(shape), 1
    for d in reversed(order):
        strides[d] = step
        step *= max(shape[d], 1)
    return strides

def layout(shape, like=None):
    n = len(shape)
    kind = random.random()
    if like and kind < .35 and len(like['shape']) == n: strides = dense(shape, sorted(range(n), key=lambda d: -like['strides'][d]))
    elif kind < .55: strides = dense(shape, list(range(n)))
    elif kind < .85: strides = dense(shape, random.sample(range(n), n))
    elif kind < .93 and n in (4, 5): strides = dense(shape, [0] + list(range(2, n)) + [1])
    else: strides = [random.choice([0, 1, 1, 2, 3, 4, 6, 12, 20, 60]) for _ in shape]
    if random.random() < .25: # as of a narrowed tensor
        strides = [s * random.choice([1, 1, 2, 3]) for s in strides]
    if random.random() < .25: # odd strides of dims of size 1
        strides = [random.choice([1, 2, 5, 77, 0]) if s == 1 else t for s, t in zip(shape, strides)]
    if random.random() < .1: strides = [random.choice([t, t, 0]) for t in strides]
    return dict(shape=shape, strides=strides)

def narrower(shape):
    s = [random.choice([n, n, n, 1]) for n in shape]
    return s[random.choice([0, 0, 0, 1, 2]):] if random.random() < .5 else s

def case():
    kind = random.choice(['elementwise', 'elementwise', 'into', 'into', 'reduction'])
    shape = [random.choice([1, 1, 2, 2, 3, 4, 5, 6, 0] if random.random() < .3 else [1, 2, 2, 3, 4, 5, 7]) for _ in range(random.choice([0, 1, 2, 2, 3, 3, 4, 4, 4, 5, 6]))]
    if kind == 'reduction':
        dims = sorted(random.sample(range(len(shape)), random.randint(0, len(shape))))
        return dict(kind=kind, operands=[layout(shape)], dims=dims, keepdim=random.random() < .5)
    operands = [layout(shape)]
    inplace = kind == 'into' and random.random() < .4
    for _ in range(random.choice([0, 1, 1, 1, 2, 3])):
        s = shape if random.random() < .6 else narrower(shape)
        if random.random() < .02: s = [n + 1 for n in s]
        operands.append(layout(s, operands[0]) if random.random() < .85 else dict(operands[0]))
    if kind == 'elementwise': random.shuffle(operands)
    return dict(kind=kind, inplace=inplace, operands=operands)

def text(c):
    numbers = lambda l: ' '.join(map(str, [len(l)] + l))
    letter = {'elementwise': 'e', 'into': 'i' if c.get('inplace') else 'f', 'reduction': 'r'}[c['kind']]
    words = [letter, str(len(c['operands']))] + [numbers(o[k]) for o in c['operands'] for k in ('shape', 'strides')]
    if letter == 'r': words += [str(int(c['keepdim'])), numbers(c['dims'])]
    return ' '.join(words)

def read(line):
    words = line.split()
    if words[0] != 'ok': return dict(error='refused')
    numbers = list(map(int, words[1:]))
    def take():
        n = numbers.pop(0)
        l = numbers[:n]
        del numbers[:n]
        return l
    output = dict(shape=take(), strides=take())
    shape, n = take(), numbers.pop(0)
    return dict(output=output, shape=shape, strides=[take() for _ in range(n)])

if __name__ == '__main__':
    out, cases, seed = sys.argv[1], *map(int, (sys.argv[2:] + ['2500', '16'][len(sys.argv) - 2:])[:2])
    random.seed(seed)
    drawn = [case() for _ in range(cases)]
    with tempfile.TemporaryDirectory() as folder:
        lines = subprocess.run([build(folder)], input='\n'.join(map(text, drawn)), capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(lines) == len(drawn)
    with gzip.open(out, 'wt') as f:
        for c, line in zip(drawn, lines): f.write(json.dumps({**c, **read(line)}) + '\n')
