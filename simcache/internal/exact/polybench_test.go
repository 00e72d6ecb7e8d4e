package exact

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// A source is a program as what it accesses, its loops by indentation:
//
//	array A 8 NI NK     an array, the size of its elements, its extents
//	for i 0 NI          i = 0 .. NI-1; fordown i 0 NI from NI-1 to 0; for i 0 NI,j up to the lesser
//	if i-1 j            where all are at least 0; else
//	C[i][j] =C[i][j]    a statement: reads, and the write
//	@100000000+4*i      an access of 4 bytes, by its address, in hexadecimal and what it moves by
type source struct{ name, sizes, text string }

// parse makes a program of a source, its sizes divided by scale. Arrays lie one after
// the other, each at a multiple of 64 B.
func (s source) parse(scale int) nest.Program {
	p := &parser{sizes: map[string]int{}, arrays: map[string]nest.Operand{}, next: 1 << 32}
	for _, f := range strings.Fields(s.sizes) {
		name, v, _ := strings.Cut(f, "=")
		n, _ := strconv.Atoi(v)
		p.sizes[name] = max(4, n/scale)
	}
	for _, line := range strings.Split(s.text, "\n") {
		if strings.TrimSpace(line) != "" {
			p.lines = append(p.lines, line)
		}
	}
	return p.block(0)
}

type parser struct {
	sizes  map[string]int
	lines  []string
	vars   []string
	arrays map[string]nest.Operand // Strides: by subscript
	next   uint64
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, "\t")) }

func (p *parser) block(depth int) (list []nest.Node) {
	for len(p.lines) > 0 && indent(p.lines[0]) == depth {
		f := strings.Fields(p.lines[0])
		p.lines = p.lines[1:]
		switch f[0] {
		case "array":
			p.array(f[1:])
		case "for", "fordown":
			l := &nest.Loop{Name: f[1], From: []nest.Affine{p.affine(f[2])}, Step: 1}
			for _, to := range strings.Split(f[3], ",") {
				l.To = append(l.To, p.affine(to))
			}
			if f[0] == "fordown" {
				l.From, l.To, l.Step = l.To, l.From, -1
				l.From[0].Const--
				l.To[0].Const--
			}
			p.vars = append(p.vars, f[1])
			l.Body = p.block(depth + 1)
			p.vars = p.vars[:len(p.vars)-1]
			list = append(list, l)
		case "if":
			c := &nest.If{}
			var and []nest.Affine
			for _, a := range f[1:] {
				and = append(and, p.affine(a))
			}
			c.When, c.Then = nest.Condition{and}, p.block(depth+1)
			list = append(list, c)
		case "else":
			list[len(list)-1].(*nest.If).Else = p.block(depth + 1)
		default:
			for _, r := range f {
				list = append(list, p.reference(r))
			}
		}
	}
	return list
}

// array places an array: name, size of an element, extents.
func (p *parser) array(f []string) {
	size, _ := strconv.Atoi(f[1])
	op := nest.Operand{Tensor: f[0], Base: p.next, Width: size}
	for i := len(f) - 1; i >= 2; i-- {
		op.Strides = append([]int{size}, op.Strides...)
		size *= p.affine(f[i]).Const
	}
	p.arrays[f[0]] = op
	p.next += uint64((size + 63) &^ 63)
}

func (p *parser) reference(text string) nest.Operand {
	kind := nest.Read
	if text[0] == '=' {
		kind, text = nest.Write, text[1:]
	}
	if addr, is := strings.CutPrefix(text, "@"); is {
		end := strings.IndexAny(addr+"+", "+-")
		base, _ := strconv.ParseUint(addr[:end], 16, 64)
		f := p.affine(addr[end:])
		return nest.Operand{Kind: kind, Base: base + uint64(f.Const), Width: 4, Strides: f.Coef}
	}
	parts := strings.Split(strings.ReplaceAll(text, "]", ""), "[")
	a, ok := p.arrays[parts[0]]
	if !ok || len(a.Strides) != len(parts)-1 {
		panic(fmt.Sprint("no array ", text))
	}
	op := nest.Operand{Tensor: a.Tensor, Kind: kind, Base: a.Base, Width: a.Width}
	op.Strides = make([]int, len(p.vars))
	for i, sub := range parts[1:] {
		f := p.affine(sub)
		op.Base += uint64(f.Const * a.Strides[i])
		for d, c := range f.Coef {
			op.Strides[d] += c * a.Strides[i]
		}
	}
	return op
}

// affine reads sums and differences of variables, sizes and numbers.
func (p *parser) affine(text string) nest.Affine {
	a := nest.Affine{Coef: make([]int, len(p.vars))}
	for len(text) > 0 {
		sign := 1
		if text[0] == '+' || text[0] == '-' {
			if text[0] == '-' {
				sign = -1
			}
			text = text[1:]
		}
		end := strings.IndexAny(text, "+-")
		if end < 0 {
			end = len(text)
		}
		name := text[:end]
		text = text[end:]
		a.Const += p.term(name, sign, a.Coef)
	}
	return a
}

func (p *parser) term(name string, sign int, coef []int) int {
	if by, of, is := strings.Cut(name, "*"); is {
		n, _ := strconv.Atoi(by)
		name, sign = of, n*sign
	}
	for d := len(p.vars) - 1; d >= 0; d-- {
		if p.vars[d] == name {
			coef[d] += sign
			return 0
		}
	}
	if n, ok := p.sizes[name]; ok {
		return sign * n
	}
	n, err := strconv.Atoi(name)
	if err != nil {
		panic("no size or variable " + name)
	}
	return sign * n
}

var oneLevel = []engine.Level{{Sets: 64, Ways: 8, Shift: 6}}

// diagonals is the multiplication of a chain of matrices, by the lengths of its parts.
var diagonals = source{"diagonals", "N=400", `
array m 8 N N
array p 8 N+1
for l 1 N
	for i 0 N-l
		=m[i][i+l]
		for k i i+l
			m[i][k] m[k+1][i+l] p[i] p[k+1] p[i+l] m[i][i+l] =m[i][i+l]
`}

// TestPolyBench compares all kernels at small sizes with package reference, in a small cache, in
// one of 32 KiB, and in two and three levels; also where tables are emptied again and again,
// while what is in them is being recorded.
func TestPolyBench(t *testing.T) {
	t.Parallel()
	for i, levels := range [][]engine.Level{
		{{Sets: 8, Ways: 4, Shift: 6}, {Sets: 16, Ways: 16, Shift: 6}},
		{{Sets: 4, Ways: 4, Shift: 6}, {Sets: 16, Ways: 16, Shift: 6}},
		{{Sets: 8, Ways: 8, Shift: 6}},
		oneLevel,
		{{Sets: 3, Ways: 8, Shift: 5}, {Sets: 20, Ways: 5, Shift: 7}, {Sets: 64, Ways: 4, Shift: 6}},
	} {
		for _, k := range append(slices.Clone(kernels), diagonals) {
			scale := 40
			down := []string{"lu", "trmm", "nussinov", "symm", "diagonals"}
			if i < 2 && slices.Contains(down, k.name) {
				scale = 13 // trips that go up and down again
			}
			if testing.Short() && i > 1 && scale == 40 && i != len(k.name)%5 {
				continue
			}
			p := k.parse(scale)
			want := reference.New(levels).Run(p.Operands(), p.Accesses())
			for _, o := range []options{
				{Threshold: 20, kept: 20_000}, {Threshold: 20}, {Threshold: 100}, {Brute: true},
			} {
				if got, err := newRegions(levels, o).Run(p); err != nil ||
					!slices.Equal(got, want) {
					t.Errorf("%s, %+v, %+v: %v, %v, want %v", k.name, levels, o, got, err, want)
				}
			}
		}
	}
}

// large are misses of the kernels at LARGE in 32 KiB of 8 ways and lines of 64 B, as
// published with "Warping Cache Simulation of Polyhedral Programs" (PLDI 2022);
// of nussinov, whose published figure is of a program whose else always runs, as
// brute force counts them.
var large = map[string]uint64{
	"2mm": 1813422949, "adi": 1744646000, "atax": 1621727, "correlation": 2012820745,
	"deriche": 40919039, "durbin": 286299, "floyd-warshall": 1371999622, "gemm": 165287500,
	"gesummv": 468417, "jacobi-1d": 500, "jacobi-2d": 843702000, "lu": 2731538313,
	"mvt": 4784665, "nussinov": 2493942872, "seidel-2d": 749250000, "syr2k": 1469048891,
	"trisolv": 251500, "trmm": 1089423394,
}

// BenchmarkPolyBench counts the kernels at LARGE, preparation included.
func BenchmarkPolyBench(b *testing.B) {
	for _, k := range kernels {
		b.Run(k.name, func(b *testing.B) {
			p := k.parse(1)
			for b.Loop() {
				misses, err := newRegions(oneLevel, options{}).Run(p)
				if err != nil {
					b.Fatal(err)
				}
				sum := uint64(0)
				for _, n := range misses {
					sum += n
				}
				if want, known := large[k.name]; known && sum != want {
					b.Fatalf("%d misses, want %d", sum, want)
				}
			}
		})
	}
}
