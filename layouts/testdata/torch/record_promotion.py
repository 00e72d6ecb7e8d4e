# Records promotion.jsonl.gz: torch.result_type of operands of all pairs of dtypes, as tensors with dims, 0-d tensors and
# numbers. Needs PyTorch 1.13 (Debian: python3-torch). record_promotion.py FILE; complex32 is written as undefined.
import gzip, json, sys
import torch
DTYPES = 'bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128'.split()
NUMBERS = dict(bool=True, int64=1, float32=1.0, complex64=1j)

def result(groups):
    operands = [torch.zeros(1, dtype=getattr(torch, d)) for d in groups[0]] + [torch.zeros((), dtype=getattr(torch, d)) for d in groups[1]]
    operands += [NUMBERS[d] for d in groups[2]]
    return str(torch.result_type(*operands))[6:].replace('complex32', 'undefined')

with gzip.open(sys.argv[1], 'wt') as f:
    for a in DTYPES:
        for b in DTYPES:
            for groups in ([[a, b], [], []], [[a], [b], []], [[], [a, b], []]): f.write(json.dumps(dict(groups=groups, result=result(groups))) + '\n')
        for b in NUMBERS:
            for groups in ([[a], [], [b]], [[], [a], [b]]): f.write(json.dumps(dict(groups=groups, result=result(groups))) + '\n')
