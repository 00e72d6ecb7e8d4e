package policies

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
	"github.com/stridebench/stridebench/simcache/internal/lines"
)

// An idle prefetcher fetches nothing; a level that has it is not watched.
type idle struct{}

func (idle) after(event) []uint64 { return nil }

// TestWatch compares watched levels, of any policies, with the same levels beside an idle prefetcher,
// of which every set is searched: all counts, of nests, programs, single references and I1's misses.
func TestWatch(t *testing.T) {
	t.Parallel()
	policies := []func(sets, ways int) Policy{nil, LRU, FIFO, Random(7), BitPLRU, SRRIP}
	for seed := range uint64(enginetest.Cases(700)) {
		d := enginetest.Random(seed, 33)
		shapes := d.Levels()
		var levels, idles []Level
		for _, l := range shapes {
			l.Shift = shapes[0].Shift
			if d.One(4) {
				l.Ways += 12
			}
			levels = append(levels, Level{Level: l, Replace: policies[d(len(policies))]})
			idles = append(idles, levels[len(levels)-1])
			idles[len(idles)-1].Prefetch = func(uint) Prefetcher { return idle{} }
		}
		dirty, o := d(4) > 0, Observe(1+d(7))
		got, want := New(levels, dirty, o), New(idles, dirty, o)
		if got.watch == nil || want.watch != nil {
			t.Fatalf("seed %d: watched %t, and with a prefetcher %t", seed, got.watch != nil, want.watch != nil)
		}
		for range 1 + d(3) {
			n := d.Nest(shapes, 1500).Canonical()
			if d.One(3) {
				n = d.Wide(n, shapes)
			}
			p := d.Program(shapes)
			if count, err := p.Count(); err != nil || count > 3000 {
				p = nest.Sequence(n)
			}
			for range d(20) {
				op, addr, size, kind := d(engine.Sorts), enginetest.At+uint64(d(1<<12)), 1+uint64(d(3<<shapes[0].Shift)), nest.Kind(d(3))
				got.Add(op, addr, size, kind)
				want.Add(op, addr, size, kind)
				if addr = uint64(d(1 << 10)); len(levels) > 1 && d.One(4) {
					got.Descend(op, addr, size)
					want.Descend(op, addr, size)
				}
			}
			passes := 1 + d(2)
			if a, b := got.Run([]nest.Nest{n}, passes), want.Run([]nest.Nest{n}, passes); !reflect.DeepEqual(a, b) {
				t.Fatalf("seed %d, %+v, %v: misses %v, want %v", seed, levels, n, a, b)
			}
			if a, b := got.RunProgram(p), want.RunProgram(p); !slices.Equal(a, b) {
				t.Fatalf("seed %d, %+v: misses of a program %v, want %v", seed, levels, a, b)
			}
			for level := range levels {
				if a, b := got.Take(level), want.Take(level); !slices.Equal(a, b) {
					t.Fatalf("seed %d, level %d: single references miss %v, want %v", seed, level, a, b)
				}
				if a, b := got.Besides(level), want.Besides(level); !reflect.DeepEqual(a, b) {
					t.Fatalf("seed %d, %+v, dirty %t, observed %b, level %d:\n got %+v\nwant %+v", seed, levels, dirty, o, level, a, b)
				}
			}
		}
		for level := range levels {
			l := got.watch.levels[level]
			if len(l.queue) > queues*max(l.Lines(), lines.Page)+left+1 {
				t.Fatalf("seed %d: a queue of %d for %d lines", seed, len(l.queue), l.Lines())
			}
		}
	}
}
