package exact

import (
	"fmt"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

// cases are programs that random ones seldom are, each for sizes N from one to another.
var cases = []struct {
	name     string
	levels   []engine.Level
	from, to int
	text     string
}{
	{"a column is accessed again, with others of its set between", []engine.Level{cache(8, 8)}, 20, 29, `
for x 0 12
	for i 0 N
		@102000004+8*x+192*i @101000018+8*x+192*i @10000014c+4*x+32*i @101000018+8*x+192*i
`},
	{"what rests is two lines between two touches of another", []engine.Level{cache(8, 4)}, 38, 43, `
for y 0 2
	for x 0 30
		for i 0 N
			@101000000+32*i @102000000+256*x @103000000 @101000000+32*i @102000000+256*x
`},
	{"lines ahead of a loop, in it and after it count once or twice",
		[]engine.Level{cache(8, 7)}, 40, 40, correlation},
	{"and where there is no room for them", []engine.Level{cache(8, 6)}, 40, 40, correlation},
	{"and where there is room for more", []engine.Level{cache(8, 8)}, 40, 40, correlation},
	{"whether a column was there in the pass before", []engine.Level{cache(16, 4)}, 41, 41, `
for y 0 2
	for x 0 125
		for i 0 N
			@101000234+32*y-672*i @1000003b0+32*y-8*x+1344*i
`},
	{"and again in an iteration", []engine.Level{cache(2, 3)}, 6, 6, `
for y 0 2
	for x 0 26
		for i 0 N
			@10000003c+32*y-8*x+288*i @104000064 @10000003c+32*y-8*x+288*i
`},
	{"what is on the end of a row below a diagonal rests", []engine.Level{cache(8, 8)}, 130, 130, `
for x 0 N
	for i 0 x
		@200000000+4*x @200000000+4*i @400000000+4*x+448*i
	@400000000+452*x
`},
	{"or is accessed ahead and after", []engine.Level{cache(8, 8)}, 130, 130, `
for x 0 N
	@200000000+4*x
	for i 0 x
		@200000000+4*i @400000000+4*x+448*i
	@400000000+452*x @200000000+4*x
`},
	{"a column ahead of a row, with what goes back in a second level",
		[]engine.Level{cache(1, 6), cache(1, 102)}, 86, 90, `
for i 0 3
	for j 0 N
		for k 0 j-i+66
			@10500018c+4*j+96*k @1080000c0+16*k @101000114-16*j
`},
	{"a loop has more trips between its first and its last instance", []engine.Level{cache(4, 2)}, 14, 35, `
for y 0 3
	for x 0 8
		@100000000+32*N+4*x
		for i 0 13+8*x,69-8*x
			@100000000+32*i
`},
	{"more small lines than ways", []engine.Level{cache(8, 2)}, 200, 200, `
for y 0 3
	for x 0 64
		@40000000+4*x @40000100+4*x @40000200+4*x @40000000+4*x
		for i 0 N
			@100000000+32*i @200000000+4*i
`},
	{"a loop of no trips at first, in which a line rests", []engine.Level{cache(8, 4)}, 200, 200, `
for y 0 3
	for x 0 64
		@40000000+4*x
		for i 0 x-3
			@400000100 @400000020+4*i
		for i 0 N
			@100000000+32*i @200000000+4*i
`},
	{"a loop of no trips, in which a line rests", []engine.Level{cache(8, 4)}, 200, 200, `
for y 0 3
	for x 0 64
		@40000000+4*x
		for i 0 y-1
			@400000100 @400000020+4*i
		for i 0 N
			@100000000+32*i @200000000+4*i
`},
	{"a period of three iterations", []engine.Level{cache(3, 4)}, 40, 40, `
for y 0 3
	for x 0 64
		for i 0 N
			@40000000+160*x+4*i @80000000+4*i
`},
	{"a line hits in the first level, and misses in both where a summary is applied again",
		[]engine.Level{cache(1, 2), cache(1, 4)}, 4, 4, `
@40000000 @40000400 @40000000 @40000420 @40000000 @40000440
for x 0 3
	if -1
		@4000001e
	for i 0 3
		@40000000+32*i
`},
	{"a condition holds at first, and not always", []engine.Level{cache(4, 2)}, 6, 6, `
for i 0 N
	for j 0 20
		if i+8-j
			for k 0 9
				@100000+64*j+4*k
		else
			for k 0 9
				@200000+64*j+4*k
`},
	{"a condition does not hold at first", []engine.Level{cache(4, 2)}, 6, 6, `
for i 0 N
	for j 0 20
		if j-i-8
			for k 0 9
				@100000+64*j+4*k
		else
			for k 0 9
				@200000+64*j+4*k
`},
	{"two loops as long as the counter of one around", []engine.Level{cache(4, 2)}, 90, 90, `
for x 0 N
	for i 0 x
		@100000000+4*i
	for i 0 x
		@200000000+4*i
`},
}

// correlation is of lines that are accessed as in PolyBench's kernel.
const correlation = `
for y 0 3
	for x 0 N
		=@101000000+400*y+4*x
		for k 0 100
			@101000000+400*y+4*x @102000000+4*y+256*k @103000000+4*x+256*k =@101000000+400*y+4*x
		@101000000+400*y+4*x =@104000000+4*y+512*x
`

// TestCases compares misses and contents with what a cache is, cold, and when the same runs
// again.
func TestCases(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for n := c.from; n <= c.to; n++ {
				p := source{text: c.text, sizes: fmt.Sprint("N=", n)}.parse(1)
				for _, threshold := range []int{1, 5, 20, 100} {
					e := newRegions(c.levels, options{Threshold: threshold})
					asReference(t, e, reference.New(c.levels), p, p)
				}
			}
		})
	}
}

// TestLongBodies compares loops of hundreds of accesses, down columns and along lines: sets may
// hold more of them than they have ways, and each address may come again, the last one first.
func TestLongBodies(t *testing.T) {
	t.Parallel()
	for i, n := range []int{66, 500, 520, 700} {
		apart := []int{1 << 20, 64, 256, 64}[i]
		for _, stride := range []int{64, line, 4, 1} {
			var body []nest.Node
			for k := range n {
				body = append(body, Access(Array(0)+k*apart, 4, stride))
			}
			for k := range n / (1 + 9*i) {
				body = append(body, body[n-1-k])
			}
			p := nest.Program{Times(2, Access(Array(0), 4), Times(50, body...))}
			for _, levels := range [][]engine.Level{
				{cache(4, 80)}, {cache(256, 2)}, {cache(16, 8), {Sets: 64, Ways: 8, Shift: 3}},
			} {
				asReference(t, newRegions(levels, options{Threshold: 100}),
					reference.New(levels), p)
			}
		}
	}
}

// TestManyWays: levels of more ways than 16 bits count are refused.
func TestManyWays(t *testing.T) {
	t.Parallel()
	p := nest.Program{Times(100, Access(Array(0), 64))}
	if misses, err := newRegions([]engine.Level{cache(1, 1<<16)}, options{}).Run(p); err == nil {
		t.Errorf("%v misses", misses)
	}
	levels := []engine.Level{cache(1, 1<<16-1)}
	asReference(t, newRegions(levels, options{}), reference.New(levels), p)
}

// TestWork: programs that are large are counted with few lines looked up.
func TestWork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		levels     []engine.Level
		most       uint64
	}{
		{"chunks are found again", "for y 0 800\n\tfor x 0 800\n\t\tfor i 0 800\n\t\t\t" +
			"@100000000+3200*x+4*i @100000000+3200*y+4*i @100000000+4*y+3200*x", oneLevel, 6e6},
	} {
		e := newRegions(c.levels, options{})
		if _, err := e.Run(source{text: c.text}.parse(1)); err != nil || e.Work() > c.most {
			t.Errorf("%s: %d lines looked up, %v, want at most %d", c.name, e.Work(), err, c.most)
		}
	}
}
