# Records spellings.jsonl.gz: which spellings of a view's arguments PyTorch takes, and
# what it makes of them. Needs PyTorch 1.13 (Debian: python3-torch). Run it in this folder.
import torch, json, gzip, os, random, warnings
random.seed(13)
warnings.simplefilter('ignore')

BY_HAND = '''as_strided((2,3),(3),1)|as_strided((3),(2,1))|as_strided((),(),11)|as_strided((),())|as_strided((2,3),(3,1))
as_strided([2,3],(3,1),None)|as_strided(2,3,1)|as_strided((2,),(3,),True)|as_strided((2,3,),(3,1,),1,)|as_strided(((2),3),(3,1))
as_strided(((2,),3),(3,1))|as_strided((2,3),(3,1),1,2)|as_strided((2,3))|as_strided()|as_strided(((2,3),(3,1)))|as_strided(None,(1,))
as_strided((2,2),(4,1),(1))|as_strided((2,2),(4,1),(1,))|as_strided([],[],0)|as_strided(((2)),((3)))
view((12,))|view(12,)|view((12))|view([12])|view(())|view()|view([])|view((3,4))|view((3,4),)|view(((3,4)))|view(((3,4),))|view(3,(4))
view(3,(4,))|view(-1)|view(+12)|view(--12)|view(- 12)|view(-+-12)|view(1_2)|view(0xc)|view(0b1100)|view(0o14)|view(012)|view(00,12)|view(12.0)
view(None)|view((-1,))|view(99999999999999999999)|view(12,,)|view(,)|view((,))|view(( ))|view( ( 3 , 4 ) )|view([[12]])|view((3,4)|view(12))
view("12")|view(12 )|view(x)|view(3 4)|view((3,4],)|view([3,4))|view(1__2)|view(_12)|view(0x)|view(1,(),12)|view((1,()))|view(12,None)|view(((12)))
view(((((12,)))))|view(12).view((3,4))|view(12).t( ).view( 3,4 , )|view(12,1).squeeze(1) . view(4,3)|view (3,4)|view(3,4). t()
permute(1,0)|permute((1,0))|permute([1,0])|permute()|permute(())|permute((1),(0))|permute((1,),(0,))|permute((1,0),)|permute([1],0)
expand(3,4)|expand((2,3,4))|expand(())|expand()|expand([2,-1,4])|expand(2,-1,-1)|expand(-1,(4))|broadcast_to(2,3,4)|broadcast_to((2,3,4))|broadcast_to()
flip(0)|flip((0,))|flip([0,1])|flip(0,1)|flip()|flip(())|flip((0))|flip([0],[1])|flip(None)
squeeze()|squeeze(0)|squeeze(0,1)|squeeze((0,))|squeeze(())|squeeze(None)|squeeze((0))|squeeze([0])|squeeze(0,)
t()|t(0)|t(())|t(None)|t(,)|transpose(0,1)|transpose((0),(1))|transpose((0,1))|transpose([0],[1])|transpose(0,)|transpose(0,1,)|transpose(0,None)|transpose(0,1,2)
narrow(0,1,2)|narrow((0,1,2))|narrow(0,1,(2))|narrow(0,(1,),2)|narrow(0,1)|narrow(0,None,2)|select(0,1)|select((0,1))|select(0,)|select(0,1,1)|select((0),(1))
unflatten(1,(2,2))|unflatten(1,[2,2])|unflatten(1,())|unflatten(1,(2))|unflatten(1,((2,2)))|unflatten(1,(-1,2))|unflatten(1,4)|unflatten(1,(4,))|unflatten(1,)
unflatten((1),(2,2))|unflatten((1,),(2,2))|unflatten(1,(2,2),)|unflatten(1,None)
unsqueeze(0)|unsqueeze((0,))|unsqueeze((0))|unsqueeze()|unsqueeze(0,1)|unsqueeze(None)
flatten()|flatten(0)|flatten(0,1)|flatten((0,1))|flatten(0,1,2)|flatten(None)|flatten(0,None)|flatten((0),(1))|flatten(-2,-1)
movedim(0,1)|movedim((0),(1))|movedim((0,),1)|movedim(0)|movedim(0,1,2)|movedim(None,1)
unfold(0,2,1)|unfold((0,2,1))|unfold(0,2)|unfold(0,(2),1)|unfold(0,[2],1)
diagonal()|diagonal(1)|diagonal(0,0,1)|diagonal((0))|diagonal((0,))|diagonal(0,1)|diagonal(None)|diagonal(0,0,1,1)|diagonal(0,1,0,)'''

SCALARS = 'view()|view(())|permute()|permute(())|expand()|expand(())|squeeze()|squeeze(0)|flip()|flip(())|view(1)|view((1,))|view((1))|broadcast_to()|broadcast_to(())|flatten()|as_strided((),())|as_strided([],[],0)|transpose(0,-1)|t()|view([])'

def value(depth=0):
    r = random.random()
    if r < .62 or depth > 2: return random.choice(['0','1','2','3','4','-1','12','6'])
    if r < .65: return 'None'
    if r < .72: return '(' + value(depth + 1) + ')'
    items = [value(depth + 1) for _ in range(random.choice([0, 1, 1, 2, 2, 3]))]
    text = random.choice([',', ', ', ' ,']).join(items)
    if random.random() < .6: return '(' + text + (',' if len(items) == 1 or items and random.random() < .2 else '') + ')'
    return '[' + text + (',' if items and random.random() < .2 else '') + ']'

def call():
    op = random.choice(['as_strided', 'as_strided', 'as_strided', 'view', 'view', 'permute', 'expand', 'broadcast_to', 'flip', 'squeeze', 't', 'transpose', 'narrow', 'select', 'unflatten', 'unsqueeze', 'flatten', 'unfold', 'diagonal'])
    if random.random() < .5:
        n = random.randint(0, 3)
        if op == 'as_strided': args = [seq(n, '123'), seq(n if random.random() < .8 else n + 1, '0123')] + ([random.choice(['0', '1', '5', 'None', '(2)', '(2,)'])] if random.random() < .6 else [])
        elif op in ('view', 'expand', 'broadcast_to'): args = random.choice([['(3,4)'], ['3', '4'], ['[2,', '3,4]'], ['(12)'], ['12'], ['(12,)'], ['-1', '(4)'], ['(2, -1)'], ['[[12]]'], ['((2,3),', '2)']])
        elif op == 'unflatten': args = [random.choice('01'), random.choice(['(2,2)', '[3,1]', '((3),1)', '(-1,)', '3', '(3)', '((3,),)'])]
        else: args = [value() for _ in range(n)]
    else: args = [value() for _ in range(random.randint(0, 3))]
    return op + '(' + ','.join(args) + (',' if args and random.random() < .1 else '') + ')'
def seq(n, pool):
    text = ','.join(random.choice(pool) for _ in range(n))
    return random.choice(['(%s)', '[%s]', '(%s,)' if n else '(%s)', '%s' if n else '[%s]'] + ['(%s)'] * 4) % text

def ask(shape, text):
    x = torch.arange(12).reshape(shape) if shape else torch.tensor(0)
    try:
        y = eval('x.' + text)
        return dict(start=shape, text=text, shape=list(y.shape), strides=list(y.stride()), offset=y.storage_offset())
    except Exception as e:
        return dict(start=shape, text=text, error=type(e).__name__ + ': ' + str(e).split('\n')[0][:120])

# Each in a process of its own: on a None where it looks for a dim's name, PyTorch
# 1.13 may die. Of such a call nothing is recorded.
def ask_apart(shape, text):
    r, w = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(w, json.dumps(ask(shape, text)).encode())
        os._exit(0)
    os.close(w)
    answer = os.fdopen(r).read()
    os.waitpid(child, 0)
    return json.loads(answer) if answer else None

cases = [([3, 4], c) for c in BY_HAND.replace('\n', '|').split('|')] + [([], c) for c in SCALARS.split('|')] + [([3, 4], call()) for _ in range(3000)]
cases = list(dict.fromkeys((tuple(shape), text) for shape, text in cases))
answers = [a for a in (ask_apart(list(shape), text) for shape, text in cases) if a]
with gzip.open('spellings.jsonl.gz', 'wt') as f:
    f.writelines(json.dumps(a) + '\n' for a in answers)
print(len(answers), 'spellings,', sum('error' not in a for a in answers), 'taken')
