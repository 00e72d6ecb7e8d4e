package summaries

import (
	"slices"
	"testing"

	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

// TestShortenLog: what is left of a log misses where all of it does, and leaves what it leaves,
// whatever was there before and however far each operand's lines moved; so it does once more is
// added.
func TestShortenLog(t *testing.T) {
	shortened, kept, ordered := 0, 0, 0
	for seed := range uint64(3000) {
		d := enginetest.Random(seed, 49)
		sets := 1 + d(2)
		levels := []engine.Level{{Sets: sets, Ways: 2, Shift: 5}, {Sets: sets * (1 + d(4)), Ways: 1 + d(6), Shift: 5}}
		m := &machine{levels: levels, did: &did{}}
		e := &entry{summary: newSummary(newState(levels[0], 0, 2))}
		e.keepLog(1000)
		row := d(sets)
		e.meetRow(row)
		var lines []uint32
		var ops []uint16
		for range 8 + d(60) {
			op := d(2)
			lines, ops = append(lines, uint32(1+row+sets*d(2+d(6))+op*40*sets)), append(ops, uint16(op))
		}
		e.log.add(row, lines, ops)
		m.shortenLog(&unit{}, e)
		left, leftOps := e.log.row(row)
		if e.log.items != len(left) {
			t.Fatalf("seed %d: %d items, want %d", seed, e.log.items, len(left))
		}
		if m.did.Shortened == 0 {
			if kept++; !slices.Equal(left, lines) {
				t.Fatalf("seed %d: %v, want all of %v", seed, left, lines)
			}
			continue
		}
		if shortened++; len(left) > m.different {
			ordered++
		}
		by := []uint32{0, uint32(sets * d(30))} // the second operand moved
		run := func(lines []uint32, ops []uint16) ([]uint64, []uint32) {
			s := newState(levels[1], 0, 2).known()
			before := enginetest.Random(seed, 50)
			for range 30 {
				s.touch(uint32(1+row+sets*before(60)), 0)
			}
			clear(s.misses)
			for i, line := range lines {
				s.touch(line+by[ops[i]], int(ops[i]))
			}
			return s.misses, s.tags
		}
		misses, tags := run(left, leftOps)
		wanted, wantTags := run(lines, ops)
		if !slices.Equal(misses, wanted) || !slices.Equal(tags, wantTags) {
			t.Fatalf("seed %d, %+v: %v of %v: %d misses, want %d; %v is left, want %v", seed, levels, left, lines, misses, wanted, tags, wantTags)
		}
	}
	if t.Logf("%d shortened, %d of them ordered, %d kept", shortened, ordered, kept); shortened < 500 || ordered < 200 || kept < 500 {
		t.Error("not often enough")
	}
}
