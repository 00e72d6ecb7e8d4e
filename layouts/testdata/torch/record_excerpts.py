# Records excerpts.jsonl.gz: how PyTorch prints tensors of more than 1000 elements, and some of fewer. Element i is
# (i * times % modulus - minus) / parts. Needs PyTorch 1.13 (Debian: python3-torch). Run it in this folder.
import gzip, json, random, warnings
import torch
warnings.simplefilter('ignore')
random.seed(1001)
DTYPES = 'bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128'.split()
SHAPES = [[1001], [1000], [5000], [40, 40], [4, 400], [400, 4], [7, 200], [6, 200], [1, 2000], [2000, 1], [10, 11, 12], [6, 6, 30], [6, 6, 6, 6], [2, 8, 9, 10], [3, 400, 1], [7, 7, 7, 7], [6, 167], [7, 143]]
with gzip.open('excerpts.jsonl.gz', 'wt') as f:
    for k in range(150):
        c = dict(dtype=random.choice(DTYPES), shape=random.choice(SHAPES), times=random.choice([1, 7, 31]), modulus=random.choice([3, 10, 97, 120, 5000, 70000]), minus=random.choice([0, 0, 5]), parts=random.choice([1, 1, 4, 3, 1000]), imag=0, transposed=random.random() < .3, sparse='')
        dtype = getattr(torch, c['dtype'])
        if not dtype.is_floating_point and not dtype.is_complex: c['modulus'], c['parts'], c['minus'] = min(c['modulus'], 120), 1, 0 if c['dtype'] == 'uint8' else c['minus']
        if dtype.is_complex: c['imag'] = 1
        n = 1
        for s in c['shape']: n *= s
        of = lambda i: ((i * c['times'] % c['modulus']) - c['minus']).double() / c['parts']
        i = torch.arange(n)
        x = (torch.complex(of(i), c['imag'] * of(i + 1)) if c['imag'] else of(i)).to(dtype).reshape(c['shape'])
        if c['transposed']: x = x.transpose(0, -1)
        if k % 8 == 0 and dtype != torch.bfloat16 and x.dim() == 2:
            c['sparse'] = random.choice(['coo', 'csr', 'csc'])
            y = {'coo': x.to_sparse, 'csr': x.to_sparse_csr, 'csc': x.to_sparse_csc}[c['sparse']]()
        c['text'] = str(y if c['sparse'] else x)
        f.write(json.dumps(c) + '\n')
