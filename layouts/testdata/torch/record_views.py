# Records chains of operations in the form of views.jsonl.gz. Needs PyTorch 1.13 (Debian: python3-torch).
# record_views.py FILE [CASES [SEED [all]]]: of tensors without elements and sizes below 0, with "all" of any.
# negative.jsonl.gz was recorded by: record_views.py negative.jsonl.gz 1500 5
import torch, json, gzip, random, sys, warnings
warnings.simplefilter('ignore')
out, everything = sys.argv[1], 'all' in sys.argv
cases, seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1500, int(sys.argv[3]) if len(sys.argv) > 3 else 5
random.seed(seed)
DTYPES = 'bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128'.split()
formats = {'contiguous_channels_last': torch.channels_last, 'contiguous_channels_last_3d': torch.channels_last_3d}

def small(): return random.choice([0, 0, 1, 1, 2, 3, 4] + ([5, 6] if everything else [-1, -2, -3]))
def dim(x): return random.randint(-x.dim() - (random.random() < .05), max(x.dim() - 1, 0) + (random.random() < .05))
def size(x):
    n = x.numel()
    if n == 0 or random.random() < .2: return [small() for _ in range(random.randint(0, 4))]
    parts = []
    while n > 1 and len(parts) < 4:
        d = random.choice([k for k in range(1, n + 1) if n % k == 0])
        parts.append(d); n //= d
    parts = parts + [n] if n > 1 or random.random() < .3 else parts
    random.shuffle(parts)
    if parts and random.random() < .2: parts[random.randrange(len(parts))] = -1
    return parts
def expanded(x):
    s = [random.choice([n, n, -1]) if n != 1 else small() for n in x.shape]
    return [small() for _ in range(random.choice([0, 0, 1, 2]))] + s

def draw(x):
    op = random.choice('transpose permute t narrow select slice unsqueeze squeeze expand expand expand broadcast_to view reshape flatten unflatten contiguous contiguous_channels_last clone flip as_strided as_strided movedim unfold unfold diagonal repeat'.split())
    d = dim(x)
    n = x.shape[d] if x.dim() and -x.dim() <= d < x.dim() else 1
    within = lambda: random.randint(-abs(n) - 1, abs(n) + 1)
    args = {'transpose': lambda: [d, dim(x)], 'permute': lambda: random.sample(range(x.dim()), x.dim()), 'narrow': lambda: [d, within(), random.choice([0, 1, 2, -1])],
            'select': lambda: [d, within()], 'slice': lambda: [d, within(), random.choice([within(), 99]), random.choice([1, 1, 2, 3])], 'unsqueeze': lambda: [d],
            'squeeze': lambda: random.choice([[], [d]]), 'expand': lambda: expanded(x), 'broadcast_to': lambda: expanded(x), 'view': lambda: size(x), 'reshape': lambda: size(x),
            'flatten': lambda: random.choice([[], sorted([d, dim(x)])]), 'unflatten': lambda: [d] + random.choice([[n, 1], [1, -1], [2, -1], [small(), small()]]),
            'flip': lambda: random.sample(range(x.dim()), random.randint(0, x.dim())),
            'as_strided': lambda: (lambda r: [[small() for _ in range(r)], [random.choice([0, 1, 1, 2, 3, 7, 12]) for _ in range(r)], random.choice([0, 0, 1, 2, 5])])(random.randint(0, 4)),
            'movedim': lambda: [d, dim(x)], 'unfold': lambda: [d, random.choice([0, 1, 2] + ([3] if everything else [-1, -2])), random.choice([1, 2, 3])],
            'diagonal': lambda: [random.choice([-2, -1, 0, 0, 1, 2]), d, dim(x)],
            'repeat': lambda: [random.choice([0, 1, 1, 2, 3] + ([] if everything else [-1])) for _ in range(x.dim() + random.choice([0, 0, 0, 1]))]}
    return op, args.get(op, lambda: [])()

def run(x, op, a):
    if op in formats: return x.contiguous(memory_format=formats[op])
    if op == 'slice': return torch.ops.aten.slice(x, *a)
    if op == 'unflatten': return x.unflatten(a[0], a[1:])
    if op in ('permute', 'expand', 'broadcast_to', 'view', 'reshape', 'flip', 'repeat'): return getattr(x, op)(a)
    return getattr(x, op)(*a)

def result(x, start):
    v = [] if x.numel() == 0 else [int(n.real) for n in x.contiguous().view(-1).to(torch.complex128).tolist()]
    sum_ = 0
    for i, n in enumerate(v): sum_ += (i + 1) * n
    channels = lambda rank, f: x.dim() == rank and x.is_contiguous(memory_format=f)
    return dict(shape=list(x.shape), strides=list(x.stride()), offset=x.storage_offset(), numel=x.numel(), is_contiguous=x.is_contiguous(),
                is_channels_last=channels(4, torch.channels_last), is_channels_last_3d=channels(5, torch.channels_last_3d),
                shares_storage=None if x.numel() == 0 else x.storage().data_ptr() == start.storage().data_ptr(), values=v[:64], checksum=sum_ % (2**61 - 1))

with gzip.open(out, 'wt') as f:
    n = 0
    while n < cases:
        dtype = random.choice(DTYPES)
        shape = [random.choice([0, 1, 1, 2, 3, 4, 5] if not everything else [1, 1, 2, 3, 4, 5, 0]) for _ in range(random.randint(0, 4))]
        if not everything and 0 not in shape: continue
        length = 1
        for s in shape: length *= s
        length = max(length, random.choice([0, 12]))
        x = start = torch.arange(length).to(getattr(torch, dtype)).as_strided(shape, torch.empty(shape).stride(), 0)
        case, ops = dict(id='%d-%d' % (seed, n), dtype=dtype, start=dict(shape=shape, strides=list(x.stride()), offset=0, storage_len=length)), []
        for _ in range(random.randint(1, 5)):
            op, a = draw(x)
            ops.append(dict(op=op, args=a))
            try:
                x = run(x, op, a)
                if x.numel() > 20000: break
            except Exception as e:
                case['error'] = 'refused'
                case['message'] = str(e).split('\n')[0][:100]
                break
        if x.numel() > 20000: continue
        case['ops'] = ops
        if 'error' not in case:
            case['result'] = result(x, start)
            if not everything and not any(s < 0 for o in ops for a in o['args'] for s in (a if isinstance(a, list) else [a])): continue
        f.write(json.dumps(case) + '\n')
        n += 1
