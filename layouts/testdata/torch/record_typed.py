# Records typed.jsonl.gz: what people type of a tensor x, and what PyTorch makes of it: subscripts, attributes, arguments by
# name, parts of several tensors, copies and other dtypes. Needs PyTorch 1.13 (Debian: python3-torch).
# record_typed.py FILE [CASES [SEED]]
import gzip, json, random, sys, warnings
import torch
warnings.simplefilter('ignore')
cases, seed = int(sys.argv[2]) if len(sys.argv) > 2 else 4000, int(sys.argv[3]) if len(sys.argv) > 3 else 18
random.seed(seed)
DTYPES = 'bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128'.split()
SHAPES = [[], [1], [6], [3, 4], [4, 6], [1, 4], [2, 3, 4], [2, 1, 3], [2, 3, 2, 4], [1, 2, 3, 4], [2, 3, 1, 1], [2, 4, 2, 2], [1, 2, 2, 3, 2], [0], [2, 0, 3], [2, 2, 2, 2, 2]]
BY_HAND = '''x.T|x.mT|x.H|x.mH|x.real|x.imag|x[...]|x[None]|x[..., None]|x[:, ::2]|x[0]|x[-1]|x[0, :]|x[:, 0]|x[..., 0]|x[1:]|x[:-1]|x[::3]|x[0:2, 1:3]|x[None, :, None]|x[...,...]|x[()]
x[(0, 1)]|x[0:1,]|x[::-1]|x[::0]|x[5:2]|x[-100:100]|x[1:None]|x[None:None:None]|x[0][0]|x[0].T|x.t()[0]|x.t()[:, 0]|x[0, ..., 0]|x[..., ::2, 0]|x[:, None]|x[99]|x[0, 0, 0, 0, 0, 0]|x[:0]
x.transpose(dim0=0, dim1=1)|x.transpose(0, dim1=1)|x.transpose(dim1=0, dim0=1)|x.transpose(0, dim0=1)|x.transpose(0, 1, dim1=1)|x.transpose(dim0=0)|x.transpose(dimension=0, dim1=1)|x.permute(dims=(1, 0))|x.permute(0, dims=1)
x.swapaxes(0, 1)|x.swapaxes(axis0=0, axis1=1)|x.swapdims(0, -1)|x.swapdims(dim0=0, dim1=1)|x.swapaxes(dim0=0, dim1=1)|x.moveaxis(0, -1)|x.moveaxis((0, 1), (1, 0))|x.movedim((0, 1), (1, 0))|x.movedim([0, 1], [1, 0])|x.movedim(source=0, destination=1)
x.movedim((0,), (1,))|x.movedim((0, 0), (1, 0))|x.movedim((0, 1), 1)|x.movedim((0, 1), (0,))|x.movedim((), ())|x.movedim(source=(1, 0), destination=(0, 1))|x.moveaxis((0, 1), (1, 1))
x.view(size=(2, -1))|x.view(-1)|x.reshape(-1)|x.reshape((2, -1))|x.reshape(shape=(-1,))|x.t().reshape(-1)|x.ravel()|x.t().ravel()|x.T.reshape(-1)|x.reshape(5)|x.flatten(start_dim=0, end_dim=-1)|x.flatten(end_dim=0)|x.mT.flatten()
x.chunk(2)[0]|x.chunk(2)[1]|x.chunk(3, dim=1)[0]|x.chunk(chunks=2, dim=-1)[-1]|x.chunk(0)[0]|x.chunk(5, 1)[1]|x.split(2)[0]|x.split(2, 1)[1]|x.split(split_size=1, dim=1)[2]|x.split([1, 2])[1]|x.split((1, 3), 1)[1]|x.split([1, 3], dim=1)[0]|x.split(0)[0]|x.split([1])[0]|x.split(100)[0]|x.split(-1)[0]
x.tensor_split(2)[0]|x.tensor_split(3, 1)[2]|x.tensor_split((1, 2), dim=1)[1]|x.tensor_split(sections=2)[1]|x.tensor_split(indices=(1,))[1]|x.tensor_split((2, 1))[1]|x.tensor_split((-1,))[0]|x.tensor_split((100, 1))[2]|x.tensor_split(0)[0]|x.tensor_split(indices=2)[0]|x.tensor_split(())[0]
x.unbind()[0]|x.unbind(1)[-1]|x.unbind(dim=1)[1]|x.unbind()[9]|x.unbind(0)[0][0]|x.chunk(2)[1][0]|x.chunk(2)[0].t()
x.contiguous()|x.t().contiguous()|x.mT.contiguous()|x.contiguous(memory_format=torch.channels_last)|x.contiguous(memory_format=torch.channels_last_3d)|x.contiguous(memory_format=torch.contiguous_format)|x.contiguous(torch.channels_last)
x.clone()|x.T.clone()|x.clone(memory_format=torch.channels_last)|x.clone(memory_format=torch.contiguous_format)|x.mT.clone(memory_format=torch.preserve_format)|x.clone(memory_format=torch.channels_last_3d)|x.clone(memory_format=None)
x.to(torch.float16)|x.to(torch.bfloat16)|x.to(dtype=torch.float64)|x.to(memory_format=torch.channels_last)|x.to(memory_format=torch.channels_last_3d)|x.to(torch.half, memory_format=torch.channels_last)|x.to(memory_format=torch.contiguous_format)|x.mT.to(torch.float32)|x.to(memory_format=torch.preserve_format)|x.to()
x.permute(0, 3, 1, 2).contiguous()|x.permute(0, 2, 3, 1).contiguous(memory_format=torch.channels_last)|x.permute(0, 3, 1, 2).to(memory_format=torch.channels_last)|x.permute(0, 3, 1, 2).to(memory_format=torch.contiguous_format)|x.permute(0, 3, 1, 2).clone()
x.half()|x.float()|x.double()|x.bfloat16()|x.int()|x.T.half()|x.bool()|x.cfloat()|x.long()
x.view(torch.int16)|x.view(torch.int32)|x.view(torch.float32)|x.view(torch.uint8)|x.view(dtype=torch.int64)|x.view(torch.complex64)|x.view(torch.half)|x.T.view(torch.int16)|x[..., ::2].view(torch.uint8)|x[..., :2].view(torch.float64)|x.view(torch.bool)|x.view(3, dtype=torch.int8)|x[:, :2].view(torch.int64)|x[..., 1:].view(torch.int64)
x.real.T|x.T.imag|x.imag[0]|x[0].real|x.squeeze(dim=0)|x.unsqueeze(dim=-1)|x.select(dim=0, index=1)|x.narrow(dim=0, start=0, length=1)|x.narrow(0, start=1, length=1)|x.diagonal(offset=1, dim1=0, dim2=1)|x.diagonal(dim2=0, dim1=1)|x.unfold(dimension=0, size=2, step=1)|x.unflatten(dim=0, sizes=(1, -1))
x.expand(size=(2, 3, 4))|x.broadcast_to(size=(2, 3, 4))|x.as_strided(size=(2,), stride=(1,), storage_offset=0)|x.permute(dims=[0, 1])|x.T()|x.t|x.real()|x.nonsense()|x.flatten(0, end_dim=0)|x.flatten(dim=0)'''
# Methods of ours that are functions of PyTorch's, or take the shape of another tensor.
OTHERS = {'x.view_as_real()': 'torch.view_as_real(x)', 'x.T.view_as_real()': 'torch.view_as_real(x.T)', 'x.expand_as((2, 3, 4))': 'x.expand_as(torch.empty(2, 3, 4))', 'x.expand_as(2, 3, 4)': 'x.expand_as(torch.empty(2, 3, 4))',
          'x.view_as((12,))': 'x.view_as(torch.empty(12))', 'x.reshape_as(4, 3)': 'x.reshape_as(torch.empty(4, 3))', 'x.t().reshape_as(12)': 'x.t().reshape_as(torch.empty(12))',
          'x.empty_like()': 'torch.empty_like(x)', 'x.T.empty_like(memory_format=torch.preserve_format)': 'torch.empty_like(x.T)', 'x.empty_like(memory_format=torch.channels_last)': 'torch.empty_like(x, memory_format=torch.channels_last)'}

def integer(): return str(random.choice([0, 0, 1, 1, 2, 3, -1, -1, -2, 5]))
def item():
    r = random.random()
    if r < .3: return integer()
    if r < .4: return 'None'
    if r < .5: return '...'
    bound = lambda: random.choice(['', '', '', integer(), 'None'])
    return bound() + ':' + bound() + (':' + random.choice(['', '1', '2', '3']) if random.random() < .4 else '')
def step():
    r, i = random.random(), integer
    if r < .35: return '[' + ', '.join(item() for _ in range(random.choice([1, 1, 2, 2, 3, 4]))) + ']'
    if r < .45: return random.choice(['.T', '.mT', '.H', '.mH', '.real', '.imag'])
    return random.choice([
        lambda: f'.{random.choice(["transpose", "swapaxes", "swapdims", "movedim", "moveaxis"])}({i()}, {i()})', lambda: f'.transpose(dim0={i()}, dim1={i()})',
        lambda: f'.movedim(({i()}, {i()}), ({i()}, {i()}))', lambda: f'.chunk({i()}, {i()})[{i()}]', lambda: f'.split({i()}, dim={i()})[{i()}]', lambda: f'.split(({i()}, {i()}), {i()})[{i()}]',
        lambda: f'.tensor_split({i()}, {i()})[{i()}]', lambda: f'.tensor_split(({i()}, {i()}), {i()})[{i()}]', lambda: f'.unbind({i()})[{i()}]', lambda: f'.reshape({random.choice([2, 3, 4, -1])}, -1)', lambda: '.ravel()',
        lambda: f'.flatten({i()}, {i()})', lambda: f'.view({random.choice(["torch." + d for d in DTYPES])})', lambda: f'.contiguous({random.choice(["", "memory_format=torch.channels_last"])})',
        lambda: f'.clone({random.choice(["", "memory_format=torch.channels_last", "memory_format=torch.contiguous_format"])})', lambda: f'.to(memory_format=torch.{random.choice(["channels_last", "contiguous_format", "preserve_format", "channels_last_3d"])})',
        lambda: f'.to(torch.{random.choice(DTYPES)})', lambda: f'.unsqueeze(dim={i()})', lambda: f'.select(dim={i()}, index={i()})', lambda: f'.narrow({i()}, {i()}, length={i()})'])()

def ask(dtype, shape, text):
    n = 1
    for s in shape: n *= s
    x = torch.arange(n).reshape(shape).to(getattr(torch, dtype))
    c = dict(dtype=dtype, start=shape, text=text)
    try:
        y = eval(OTHERS.get(text, text))
        assert isinstance(y, torch.Tensor)
        c.update(shape=list(y.shape), strides=list(y.stride()), offset=y.storage_offset(), to=str(y.dtype)[6:], shares=y.storage().data_ptr() == x.storage().data_ptr() if n else None)
        if 'empty_like' not in text and 'H' not in text and y.numel() < 65: # H conjugates
            flat = y.reshape(-1).to(torch.complex128).tolist()
            if all(abs(v.real) < 1e6 and abs(v.imag) < 1e6 and v == v and v.real == int(v.real) and v.imag == int(v.imag) for v in flat): c['values'] = [[int(v.real), int(v.imag)] for v in flat]
    except Exception as e:
        c['error'] = type(e).__name__ + ': ' + str(e).split('\n')[0][:100]
    return c

asked = [(random.choice(DTYPES), s, t) for t in BY_HAND.replace('\n', '|').split('|') + list(OTHERS) for s in random.sample(SHAPES, 3) + [[3, 4], [2, 3, 2, 4]]]
asked += [(d, [2, 4], t) for d in DTYPES for t in ('x.real', 'x.imag', 'x.view_as_real()', 'x.view(torch.uint8)', 'x.view(torch.int64)', 'x.view(torch.complex128)', 'x.to(torch.bfloat16)')]
asked += [(random.choice(DTYPES), random.choice(SHAPES), 'x' + ''.join(step() for _ in range(random.choice([1, 1, 1, 2, 2, 3])))) for _ in range(cases)]
answers = [ask(*a) for a in asked]
with gzip.open(sys.argv[1], 'wt') as f:
    f.writelines(json.dumps(a) + '\n' for a in answers)
print(len(answers), 'cases,', sum('error' not in a for a in answers), 'taken')
