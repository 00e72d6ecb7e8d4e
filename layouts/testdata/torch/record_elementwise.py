# Records elementwise results in the form of elementwise.jsonl.gz, of further operators and operands.
# Needs PyTorch 1.13 (Debian: python3-torch). record_elementwise.py FILE [CASES [SEED]]
import gzip, json, random, sys
import torch
from record_iterations import layout, narrower

FLOAT = ['float32', 'float64', 'float16', 'int32', 'uint8']
UNARY = dict(neg=torch.neg, relu=torch.relu, abs=torch.abs, exp=lambda x: torch.exp(x.float()), square=lambda x: x * x, plus1=lambda x: x + 1,
             clamp=lambda x: x.clamp(0, 1), sigmoid=lambda x: torch.sigmoid(x.float()))
BINARY = dict(add=torch.add, mul=torch.mul, sub=torch.sub, eq=torch.eq, maximum=torch.maximum, lt=torch.lt)
TERNARY = dict(where=lambda c, x, y: torch.where(c, x, y), addcmul=torch.addcmul)

def tensor(g, dtype):
    reach = 1 + sum((n - 1) * s for n, s in zip(g['shape'], g['strides'])) if 0 not in g['shape'] else 0
    return torch.zeros(max(reach, 0), dtype=getattr(torch, dtype)).as_strided(g['shape'], g['strides'])

def case(name):
    shape = [random.choice([1, 1, 2, 2, 3, 4, 5, 6, 0] if random.random() < .3 else [1, 2, 2, 3, 4, 5, 7]) for _ in range(random.choice([0, 1, 2, 2, 3, 3, 4, 4, 4, 5]))]
    op, n = random.choice([(op, n) for n, ops in ((1, UNARY), (2, BINARY), (2, BINARY), (3, TERNARY)) for op in ops])
    first = layout(shape)
    operands = [first] + [layout(shape if random.random() < .6 else narrower(shape), first) for _ in range(n - 1)]
    random.shuffle(operands)
    dtype = random.choice(FLOAT[:2] if n == 3 else FLOAT)
    dtypes = [dtype] * n
    if n == 2 and random.random() < .2: dtypes[random.randrange(2)] = random.choice(FLOAT)
    if op == 'where': dtypes[0] = 'bool'
    tensors = [tensor(g, d) for g, d in zip(operands, dtypes)]
    extra = [1.0] if op == 'plus1' else []
    y = {**UNARY, **BINARY, **TERNARY}[op](*tensors)
    inputs = [dict(g, dtype=d) for g, d in zip(operands, dtypes)]
    if op == 'plus1': inputs.append(dict(shape=[], strides=[], dtype=dtypes[0]))
    if op == 'square': inputs.append(inputs[0])
    convert = []
    if op in ('exp', 'sigmoid') and dtype != 'float32': convert = [0]
    if n == 2: convert = [i for i, t in enumerate(tensors) if t.dtype != torch.result_type(*tensors)]
    return dict(id=name, op=op, inputs=inputs, convert=convert, shape=list(y.shape), strides=list(y.stride()))

if __name__ == '__main__':
    out, cases, seed = sys.argv[1], *map(int, (sys.argv[2:] + ['3000', '16'][len(sys.argv) - 2:])[:2])
    random.seed(seed)
    with gzip.open(out, 'wt') as f:
        for i in range(cases):
            try: f.write(json.dumps(case('%d-%d' % (seed, i))) + '\n')
            except RuntimeError as e:
                if 'not implemented' not in str(e): raise
