# Records sparse.jsonl.gz: tensors in PyTorch's sparse layouts, as it prints them.
# Needs PyTorch 1.13 (Debian: python3-torch). record_sparse.py FILE [CASES [SEED]]
# sparse.jsonl.gz was recorded by: record_sparse.py sparse.jsonl.gz 500 16
#
# dtype, shape and strides of a tensor over values; format and block; text, as PyTorch prints it, and names, shapes and strides
# of its arrays; or an error.
import gzip, json, random, sys, warnings
import torch
warnings.simplefilter('ignore')

DTYPES = ['float32'] * 4 + ['float64', 'int64', 'int32', 'int8', 'uint8', 'bool', 'float16', 'complex64']
ARRAYS = dict(coo=['indices', 'values'], csr=['crow_indices', 'col_indices', 'values'], csc=['ccol_indices', 'row_indices', 'values'])
ARRAYS.update(bsr=ARRAYS['csr'], bsc=ARRAYS['csc'])

def written(v): # as in prints.jsonl.gz
    if isinstance(v, complex): return [written(v.real), written(v.imag)]
    if isinstance(v, float): return repr(v)
    return int(v) if isinstance(v, bool) else str(v)

def case():
    format = random.choice(list(ARRAYS))
    dtype = getattr(torch, random.choice(DTYPES))
    rank = random.choice([0, 1, 2, 3, 4]) if format == 'coo' else 2
    shape = [random.choice([0, 1, 2, 3, 4, 6, 8] if random.random() < .3 else [2, 3, 4, 6]) for _ in range(rank)]
    while torch.Size(shape).numel() > 200: shape[random.randrange(rank)] = 2
    density = random.choice([.05, .2, .5, 1])
    x = torch.where(torch.rand(shape) < density, torch.randint(-9, 9, shape).double() * random.choice([1, 1, .5, .37, 1000]), torch.zeros(()).double())
    if random.random() < .1: x = torch.where(torch.rand(shape) < .2, torch.tensor(random.choice([-0.0, float('nan'), float('inf')])).double(), x)
    if random.random() < .3 and rank == 2: x = x.t().contiguous().t()
    if dtype == torch.uint8: x = x.abs()
    if not dtype.is_floating_point and not dtype.is_complex: x = x.nan_to_num(7, 7, 7)
    x = x.to(dtype)
    block = []
    if format in ('bsr', 'bsc'): block = [random.choice([b for b in (1, 2, 3, 4) if n % b == 0 or random.random() < .05]) for n in shape]
    flat = x.contiguous().reshape(-1)
    c = dict(dtype=str(dtype)[6:], shape=shape, transposed=x.dim() == 2 and not x.is_contiguous(), values=[written(v) for v in flat.tolist()], format=format, block=block)
    try: s = x.to_sparse() if format == 'coo' else getattr(x, 'to_sparse_' + format)(*([tuple(block)] if block else []))
    except RuntimeError as e:
        if 'not implemented' in str(e): return case()
        return dict(c, error=str(e).split('\n')[0][:100])
    arrays = [getattr(s, n)() for n in ARRAYS[format]]
    return dict(c, text=str(s), arrays=[dict(name=n, dtype=str(a.dtype)[6:], shape=list(a.shape), strides=list(a.stride())) for n, a in zip(ARRAYS[format], arrays)])

if __name__ == '__main__':
    out, cases, seed = sys.argv[1], *map(int, (sys.argv[2:] + ['500', '16'][len(sys.argv) - 2:])[:2])
    random.seed(seed)
    torch.manual_seed(seed)
    with gzip.open(out, 'wt') as f:
        for _ in range(cases): f.write(json.dumps(case()) + '\n')
