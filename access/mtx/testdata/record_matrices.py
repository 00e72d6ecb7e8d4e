# Records matrices.jsonl.gz: Matrix Market files, and what SciPy reads from them as CSR.
# Needs SciPy (Debian: python3-scipy). record_matrices.py FILE [CASES [SEED]]
# matrices.jsonl.gz was recorded, with SciPy 1.10, by: record_matrices.py matrices.jsonl.gz 200 16
import gzip, io, json, random, sys
import scipy.io

def case():
    field, symmetry = random.choice([(f, s) for f in ('real', 'integer', 'pattern') for s in ('general', 'symmetric', 'skew-symmetric') if (f, s) != ('pattern', 'skew-symmetric')])
    rows = random.choice([1, 2, 3, 5, 8, 20])
    columns = rows if symmetry != 'general' else random.choice([1, 2, 3, 5, 8, 20])
    lines = []
    for _ in range(random.choice([0, 1, 3, 10, 40])):
        i, j = random.randint(1, rows), random.randint(1, columns)
        if symmetry != 'general' and i < j: i, j = j, i
        if symmetry == 'skew-symmetric' and i == j: continue
        # quarters add up exactly, whatever the order
        value = {'real': lambda: random.choice([random.randint(-99, 99) / 4, 1e10, -2.5e-1, 0.0]), 'integer': lambda: random.randint(-99, 99), 'pattern': lambda: ''}[field]()
        lines.append(random.choice(['%s %s %s', ' %s\t%s  %s ', '%s %s %s']) % (i, j, value))
    # SciPy adds nothing up in a pattern
    if field == 'pattern': lines = list({tuple(l.split()): l for l in lines}.values())
    text = random.choice(['%%%%MatrixMarket matrix coordinate %s %s\n', '%%%%MatrixMarket Matrix Coordinate %s %s\n']) % (field, symmetry)
    text += random.choice(['', '% a comment\n', '%\n%----\n']) + '%d %d %d\n' % (rows, columns, len(lines)) + '\n'.join(lines) + random.choice(['', '\n'])
    if not lines: text = text.rstrip('\n') + '\n'
    m = scipy.io.mmread(io.BytesIO(text.encode())).tocsr()
    m.sum_duplicates()
    m.sort_indices()
    return dict(text=text, rows=rows, columns=columns, starts=m.indptr.tolist(), column=m.indices.tolist(), values=None if field == 'pattern' else [float(v) for v in m.data])

if __name__ == '__main__':
    out, cases, seed = sys.argv[1], *map(int, (sys.argv[2:] + ['200', '16'][len(sys.argv) - 2:])[:2])
    random.seed(seed)
    with gzip.open(out, 'wt') as f:
        for _ in range(cases): f.write(json.dumps(case()) + '\n')
