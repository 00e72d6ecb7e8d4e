# Records copies.jsonl.gz: which way copy_ goes, and in which order.
# Needs PyTorch 1.13 (Debian: python3-torch). record_copies.py FILE [CASES [SEED]]
# copies.jsonl.gz was recorded by: record_copies.py copies.jsonl.gz 900 16
#
# dst and src have shape and strides; dtype and src_dtype. block is the edge of the buffer that copy_ allocates (as the profiler
# sees it), 0 without one. left, of destinations in which elements share memory, is the row-major number of the element that each
# place of the storage holds after copying 0, 1, 2, ..., -1 if none: what was written last. Or an error.
import gzip, json, math, random, sys
import torch
from record_iterations import layout, narrower, dense

DTYPES = ['uint8', 'bool', 'int8', 'int16', 'float32', 'float64', 'int64', 'float16', 'complex64']

def places(g): return 1 + sum((n - 1) * s for n, s in zip(g['shape'], g['strides'])) if 0 not in g['shape'] else 0
def tensor(g, dtype): return torch.zeros(places(g), dtype=getattr(torch, dtype)).as_strided(g['shape'], g['strides'])

def blocked(c):
    dst, src = tensor(c['dst'], c['dtype']), tensor(c['src'], c['src_dtype'])
    while True: # the profiler may give the allocation to a neighbouring event
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as p:
            dst.copy_(src)
        buffers = [e for e in p.events() if e.name == 'aten::empty']
        if not buffers: return 0
        if buffers[0].cpu_memory_usage > 0: return math.isqrt(buffers[0].cpu_memory_usage // dst.element_size())

def order(c):
    n = math.prod(c['src']['shape'])
    dst = torch.full([places(c['dst'])], -1, dtype=torch.int32)
    src = torch.full([places(c['src'])], -1, dtype=torch.int32)
    values = torch.arange(n, dtype=torch.int32).reshape(c['src']['shape'])
    src.as_strided(c['src']['shape'], c['src']['strides']).copy_(values)
    dst.as_strided(c['dst']['shape'], c['dst']['strides']).copy_(src.as_strided(c['src']['shape'], c['src']['strides']))
    return dst.tolist()

def matrices():
    dtype = random.choice(DTYPES)
    n = random.choice([59, 60, 61, 62, 100, 119, 120, 121, 300, 1, 3600])
    m = random.choice([59, 60, 61, 62, 3600 // n, 3600 // n + 1, 100])
    src = random.choice([dict(shape=[n, m], strides=[1, n])] * 4 + [dict(shape=[n, m], strides=[1, n + 1]), dict(shape=[n, m], strides=[m, 1]),
        dict(shape=[1, n, m], strides=[n * m, 1, n]), dict(shape=[m], strides=[1]), dict(shape=[n, 1], strides=[1, n]), dict(shape=[n, m], strides=[2, 2 * n])])
    dst = random.choice([dict(shape=[n, m], strides=[m, 1])] * 5 + [dict(shape=[1, n, m], strides=[n * m, m, 1]), dict(shape=[n, m], strides=[1, n]),
        dict(shape=[n, m], strides=[m + 1, 1]), dict(shape=[n, m], strides=[0, 1])])
    return dict(dst=dst, src=src, dtype=dtype, src_dtype=dtype if random.random() < .9 else random.choice(DTYPES))

def overlaps():
    shape = [random.choice([1, 2, 2, 3, 4, 5]) for _ in range(random.choice([2, 2, 3, 3, 4]))]
    dst = dict(shape=shape, strides=[random.choice([1, 1, 2, 2, 3, 4, 6, 8]) for _ in shape])
    return dict(dst=dst, src=dict(shape=shape, strides=dense(shape, random.sample(range(len(shape)), len(shape)))), dtype='int32', src_dtype='int32')

if __name__ == '__main__':
    out, cases, seed = sys.argv[1], *map(int, (sys.argv[2:] + ['900', '16'][len(sys.argv) - 2:])[:2])
    random.seed(seed)
    torch.set_num_threads(1)
    with gzip.open(out, 'wt') as f:
        for i in range(cases):
            c = matrices() if i % 3 == 0 else overlaps()
            try: c.update(dict(block=blocked(c)) if i % 3 == 0 else dict(block=0, left=order(c)))
            except RuntimeError as e: c['error'] = str(e).split('\n')[0]
            f.write(json.dumps(c) + '\n')
