# Records conversions.jsonl.gz: what PyTorch makes of the values of each dtype in each
# other, where C defines it. Needs PyTorch 1.13 (Debian: python3-torch). Run it in this folder.
import torch, json, gzip, math, random
random.seed(3)
names = 'bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128'.split()
nan, inf = math.nan, math.inf
whole = [0, 1, -1, 2, 7, -8, 127, -128, 128, 255, 256, -129, 32767, 32768, 65535, 65536, 2**24 + 1, 2**31 - 1, -2**31, 2**31, 2**53 + 1, 2**63 - 1, -2**63]
fractions = [0.0, -0.0, 0.5, -0.5, 0.999, 1.5, -1.5, 126.9, 1e-30, -1e-30, 6e-8, 2.9802322e-08, 1e-45, 5e-324, 0.1, 2049.0, 2051.0, 65504.0, 65519.0, 65520.0, 1e30, 1e300, 1 + 2**-11 + 2**-40, 1 + 2**-24 + 2**-50, nan, inf, -inf]

def enc(v):
    if isinstance(v, complex): return [enc(v.real), enc(v.imag)]
    if isinstance(v, bool): return int(v)
    if isinstance(v, float): return 'nan' if math.isnan(v) else ('inf' if v > 0 else '-inf') if math.isinf(v) else repr(v)
    return str(v)

def values(dtype):
    if dtype == torch.bool: return [True, False]
    if dtype.is_complex:
        pool = fractions + [1.0, 3.0]
        # each part beside 0, beside what has no sign, and beside another number
        return [complex(a, b) for a in pool for b in (0.0, -0.0, 1.0, nan, inf)] + [complex(b, a) for a in pool for b in (0.0, -0.0, 0.25)] + [complex(random.choice(pool), random.choice(pool)) for _ in range(40)]
    if dtype.is_floating_point: return fractions + [float(v) for v in whole]
    return [v for v in whole if torch.iinfo(dtype).min <= v <= torch.iinfo(dtype).max]

# C does not define what a real number becomes beyond the range of an integer.
def defined(v, dtype):
    v = v.real if isinstance(v, complex) else v
    if isinstance(v, int) or dtype.is_floating_point or dtype.is_complex or dtype == torch.bool: return True
    return math.isfinite(v) and torch.iinfo(dtype).min <= int(v) <= torch.iinfo(dtype).max and (v > -1 or dtype != torch.uint8)

with gzip.open('conversions.jsonl.gz', 'wt') as f:
    for name in names:
        source = getattr(torch, name)
        for target in names:
            dtype = getattr(torch, target)
            # as the dtype holds them, after rounding
            held = [v for v in torch.tensor(values(source), dtype=source).tolist() if defined(v, dtype)]
            x = torch.tensor(held, dtype=source)
            f.write(json.dumps(dict(dtype=name, shape=[len(held)], values=[enc(v) for v in held], to={target: [enc(v) for v in x.to(dtype).tolist()]})) + '\n')
