package summaries

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/reference"
)

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

// TestKept: where summaries may take little memory, tables are emptied again and again, also while
// what is in them is being recorded, and nothing else changes.
func TestKept(t *testing.T) {
	t.Parallel()
	levels := []engine.Level{{Sets: 8, Ways: 4, Shift: 6}, {Sets: 16, Ways: 16, Shift: 6}}
	for _, k := range append(slices.Clone(kernels), diagonals) {
		if !slices.Contains([]string{"lu", "trmm", "nussinov", "symm", "diagonals"}, k.name) {
			continue
		}
		p := k.parse(10)
		for _, levels := range [][]engine.Level{levels[:1], levels} {
			want := reference.New(levels).Run(p.Operands(), p.Accesses())
			e := New(levels, Options{Threshold: 20, kept: 20_000})
			if got, err := e.Run(p); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, %d levels: %v, %v, want %v", k.name, len(levels), got, err, want)
			}
			if e.did.Emptied < 3 {
				t.Errorf("%s, %d levels: not often enough: %+v", k.name, len(levels), e.did)
			}
		}
	}
}

// TestRarely: keys that came back at first, and later do so more seldom.
func TestRarely(t *testing.T) {
	for _, c := range []struct {
		logs  bool
		every int // every so many times one is served, later
		want  bool
	}{{true, 3, false}, {true, 5, true}, {false, 5, false}, {false, 17, true}} {
		u, got := &unit{logs: c.logs}, false
		for i := range 4 * lately {
			u.tries++
			if i < 2*lately || i%c.every == 0 {
				u.hits++
			}
			got = got || u.rarely()
			if got && i < 2*lately {
				t.Errorf("%+v: while all were served", c)
			}
		}
		if got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
