# Records prints.jsonl.gz: how PyTorch prints tensors and converts between dtypes.
# Needs PyTorch 1.13 (Debian: python3-torch). Run it in this folder.
import torch, json, gzip, random, math
random.seed(7)
DT={'bool':torch.bool,'uint8':torch.uint8,'int8':torch.int8,'int16':torch.int16,'int32':torch.int32,'int64':torch.int64,'float16':torch.float16,'bfloat16':torch.bfloat16,'float32':torch.float32,'float64':torch.float64,'complex64':torch.complex64,'complex128':torch.complex128}
def enc(v):
    if isinstance(v,complex): return [enc(v.real),enc(v.imag)]
    if isinstance(v,bool): return int(v)
    if isinstance(v,float):
        if math.isnan(v): return 'nan'
        if math.isinf(v): return 'inf' if v>0 else '-inf'
        return repr(v)
    return str(v)
pools={'int':lambda:random.choice([random.randint(-9,9),random.randint(-100,100),random.randint(0,9)]),
'whole':lambda:float(random.randint(-50,50)),'wide':lambda:float(random.choice([1,2,3e3,5e8,-7])),'frac':lambda:random.uniform(-3,3),'tiny':lambda:random.choice([1e-6,0.5,2.0]),'odd':lambda:random.choice([0.0,float('inf'),float('-inf'),float('nan'),1.5,-2.25]),'oddw':lambda:random.choice([0.0,float('inf'),float('nan'),3.0]),'zero':lambda:0.0,'half':lambda:random.choice([0.5,65504.0,1e-7,6e-5,2049.0,0.1])}
f=gzip.open('prints.jsonl.gz','wt')
n=0
for i in range(280):
    dt=random.choice(list(DT)); t=DT[dt]
    shape=random.choice([[],[1],[3],[0],[2,0],[2,3],[2,2,2],[30],[3,25],[1,1,5],[2,1,2,3],[12],[4,4],[100]])
    cnt=1
    for s in shape: cnt*=s
    pool=random.choice([k for k in pools if k!='int']) if t.is_floating_point or t.is_complex else 'int'
    if t.is_floating_point or t.is_complex: v=[pools[pool]() for _ in range(cnt)]
    elif dt=='bool': v=[random.random()<.5 for _ in range(cnt)]
    elif dt=='uint8': v=[abs(pools['int']()) for _ in range(cnt)]
    elif dt=='int64': v=[random.choice([pools['int'](),2**40,-2**62]) for _ in range(cnt)]
    else: v=[pools['int']() for _ in range(cnt)]
    if t.is_complex: v=[complex(a,pools[pool]()) for a in v]
    x=torch.tensor(v,dtype=t).reshape(shape)
    c=dict(dtype=dt,shape=shape,values=[enc(a) for a in x.reshape(-1).tolist()],text=str(x))
    conv={}
    ok=all((isinstance(a,(int,bool)) and abs(a)<=120) or (isinstance(a,float) and math.isfinite(a) and abs(a)<=120) or (isinstance(a,complex) and math.isfinite(abs(a)) and abs(a)<=120) for a in x.reshape(-1).tolist())
    for d2,t2 in DT.items():
        if (t.is_floating_point or t.is_complex) and not (t2.is_floating_point or t2.is_complex) and not ok: continue
        if d2=='uint8' and any((a.real if isinstance(a,complex) else a)<0 for a in x.reshape(-1).tolist()) and (t.is_floating_point or t.is_complex): continue
        import warnings; warnings.simplefilter('ignore')
        conv[d2]=[enc(a) for a in x.to(t2).reshape(-1).tolist()]
    c['to']=conv
    f.write(json.dumps(c)+'\n')
f.close()
