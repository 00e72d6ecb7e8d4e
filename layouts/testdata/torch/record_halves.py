# Records halves.jsonl.gz: the bits of float32 numbers as PyTorch rounds each, alone, to float16 and bfloat16, and a checksum
# of the bits of all float16 and bfloat16 numbers as float32. Needs PyTorch 1.13 (Debian: python3-torch). Run it in this
# folder. (In a vector of numbers PyTorch 1.13 makes 0xffff of NaN in bfloat16; alone 0x7fc0, as here.)
import gzip, hashlib, json, random, struct
import torch
random.seed(16)

def bits(x): return [v & 0xffff for v in x.view(torch.int16).tolist()]

def one(b, dtype):
    x = torch.tensor(b - (b >> 31 << 32), dtype=torch.int32).reshape(1).view(torch.float32)
    return bits(x[0].to(dtype).reshape(1))[0]

edges = [0, 1, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff, 0x7f7fffff, 0x33000000, 0x33000001, 0x32ffffff, 0x387fe000, 0x387fdfff, 0x477fefff, 0x477ff000, 0x7f7f7fff, 0x7f7f8000]
cases = set(edges)
for _ in range(3000):
    b = random.getrandbits(31)
    if random.random() < .5: b = (random.randint(100, 145) << 23) + random.getrandbits(23) # within what float16 has
    cases.add(b)
    cases.add(b & ~0xffff | random.choice([0x8000, 0x7fff, 0x8001]))  # ties of bfloat16
    cases.add(b & ~0x1fff | random.choice([0x1000, 0x0fff, 0x1001]))  # of float16
with gzip.open('halves.jsonl.gz', 'wt') as f:
    for b in sorted(cases):
        for s in (b, b | 1 << 31):
            f.write(json.dumps(dict(bits=s, float16=one(s, torch.float16), bfloat16=one(s, torch.bfloat16))) + '\n')
all = torch.arange(-2**15, 2**15, dtype=torch.int32).to(torch.int16)
for name in ('float16', 'bfloat16'):
    words = [v & 0xffffffff for v in all.view(getattr(torch, name)).float().view(torch.int32).tolist()]
    print(name, hashlib.sha256(struct.pack('<65536I', *(words[32768:] + words[:32768]))).hexdigest())
