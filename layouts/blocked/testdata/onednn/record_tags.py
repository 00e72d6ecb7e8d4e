# Records tags.jsonl.gz: where oneDNN itself puts the elements of a tensor in each of its formats.
# Needs oneDNN 2 (Debian: libdnnl-dev) and g++. record_tags.py FILE [SHAPES [SEED]], a number of shapes for each tag;
# tags.jsonl.gz was recorded, with oneDNN 2.6, by: record_tags.py tags.jsonl.gz 1 16. The test reads the folder that ONEDNN_VECTORS names, too.
#
# tag as dnnl_types.h names it, canonical as oneDNN prints it, shape, padded shape, size in elements;
# and of what lies in memory after a reorder of 1, 2, 3, ... to the format, places counted from 1: head, the first 64, and checksum,
# the sum of place*value modulo 2^61-1 (padding is 0).
import gzip, json, os, random, re, subprocess, sys, tempfile

PROGRAM = r'''
#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl_debug.h>
#include <iostream>
#include <vector>
#define CHECK(x) if ((x) != dnnl_success) { std::cout << "error\n"; continue; }
int main() {
  dnnl_engine_t engine; dnnl_stream_t stream;
  dnnl_engine_create(&engine, dnnl_cpu, 0);
  dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
  const dnnl_format_tag_t plain[] = {dnnl_format_tag_undef, dnnl_a, dnnl_ab, dnnl_abc, dnnl_abcd, dnnl_abcde, dnnl_abcdef, dnnl_abcdefg,
    dnnl_abcdefgh, dnnl_abcdefghi, dnnl_abcdefghij, dnnl_abcdefghijk, dnnl_abcdefghijkl};
  int tag, rank;
  while (std::cin >> tag >> rank) {
    dnnl_dims_t dims; int64_t n = 1;
    for (int d = 0; d < rank; d++) { std::cin >> dims[d]; n *= dims[d]; }
    dnnl_memory_desc_t from, to;
    CHECK(dnnl_memory_desc_init_by_tag(&from, rank, dims, dnnl_f32, plain[rank]));
    CHECK(dnnl_memory_desc_init_by_tag(&to, rank, dims, dnnl_f32, (dnnl_format_tag_t)tag));
    size_t size = dnnl_memory_desc_get_size(&to) / 4;
    std::vector<float> in(n + 1), out(size + 1, -1);
    for (int64_t i = 0; i < n; i++) in[i] = i + 1;
    dnnl_primitive_desc_t pd; dnnl_primitive_t reorder; dnnl_memory_t a, b;
    CHECK(dnnl_reorder_primitive_desc_create(&pd, &from, engine, &to, engine, nullptr));
    CHECK(dnnl_primitive_create(&reorder, pd));
    dnnl_memory_create(&a, &from, engine, in.data());
    dnnl_memory_create(&b, &to, engine, out.data());
    dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, a}, {DNNL_ARG_TO, b}};
    CHECK(dnnl_primitive_execute(reorder, stream, 2, args));
    dnnl_stream_wait(stream);
    unsigned __int128 sum = 0;
    for (size_t i = 0; i < size; i++) sum += (unsigned __int128)(i + 1) * (uint64_t)out[i];
    std::cout << dnnl_fmt_tag2str((dnnl_format_tag_t)tag) << ' ' << size << ' ' << (uint64_t)(sum % ((1ull << 61) - 1));
    for (int d = 0; d < rank; d++) std::cout << ' ' << to.padded_dims[d];
    for (size_t i = 0; i < size && i < 64; i++) std::cout << ' ' << (int64_t)out[i];
    std::cout << '\n';
    dnnl_primitive_destroy(reorder); dnnl_primitive_desc_destroy(pd); dnnl_memory_destroy(a); dnnl_memory_destroy(b);
  }
}
'''
HEADER = '/usr/include/oneapi/dnnl/dnnl_types.h'

out, shapes, seed = sys.argv[1], *map(int, (sys.argv[2:] + ['1', '16'][len(sys.argv) - 2:])[:2])
random.seed(seed)
enum = open(HEADER).read().split('dnnl_format_tag_any,')[1].split('} dnnl_format_tag_t')[0]
names = re.findall(r'^\s*dnnl_([A-Za-z0-9]+)\b', re.sub(r'///.*', '', enum), re.M)
names = [n for n in names if not n.startswith('format')]

def values(folder): # of the enumeration
    source = os.path.join(folder, 'names.cpp')
    open(source, 'w').write('#include <oneapi/dnnl/dnnl_types.h>\n#include <cstdio>\nint main() {\n' + '\n'.join('printf("%%d\\n", dnnl_%s);' % n for n in names) + '}\n')
    subprocess.run(['g++', source, '-o', source + '.out'], check=True)
    return list(map(int, subprocess.run([source + '.out'], capture_output=True, text=True, check=True).stdout.split()))

with tempfile.TemporaryDirectory() as folder:
    tags = dict(zip(names, values(folder)))
    source = os.path.join(folder, 'tags.cpp')
    open(source, 'w').write(PROGRAM)
    subprocess.run(['g++', '-O1', source, '-o', source + '.out', '-ldnnl'], check=True)
    drawn = []
    for name in names:
        order = re.match('[A-Za-z]+', name)[0]
        for _ in range(shapes):
            shape = []
            for c in sorted(order.lower()): # which is the logical order of letters of dims only: sizes are drawn for both
                big = max([int(b) for b, d in re.findall(r'(\d+)([a-z])', name)] + [1])
                shape.append(random.choice([1, 2, 3, 5, big, big + 1, random.randint(1, 2 * big)]) if any(ch.isupper() for ch in order) and random.random() < .6 else random.randint(1, 4))
            total = 1
            for n in shape: total *= n
            while total > 1 << 13:
                i = shape.index(max(shape)); total //= shape[i]; shape[i] = random.randint(1, 3); total *= shape[i]
            drawn.append((name, shape))
    text = '\n'.join(' '.join(map(str, [tags[n], len(s)] + s)) for n, s in drawn)
    lines = subprocess.run([source + '.out'], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
assert len(lines) == len(drawn), (len(lines), len(drawn))
with gzip.open(out, 'wt') as f:
    for (name, shape), line in zip(drawn, lines):
        words = line.split()
        if words[0] == 'error': print('refused:', name, shape); continue
        numbers, r = list(map(int, words[1:])), len(shape)
        f.write(json.dumps(dict(tag=name, canonical=words[0], shape=shape, size=numbers[0], checksum=numbers[1],
                                padded=numbers[2:2 + r], head=numbers[2 + r:])) + '\n')
