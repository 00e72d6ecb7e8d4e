package kernel

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A trial is a copy of elements of size bytes as loops say, and what comes of it.
type trial struct {
	size      int
	loops     []Loop
	to, from  int    // where the loops begin, so that none leaves its memory
	src, want []byte // what is not written stays unwritten
}

const unwritten = 0xa5

// mostTried is the most bytes that a trial reads or writes.
const mostTried = 3 << 20

// What is written and what is read lies between guards.
var written, read = guarded(mostTried), guarded(mostTried)

var random = randomBytes(9, mostTried)

// newTrial makes a trial, or none if it would be too large.
func newTrial(size int, loops []Loop, to, from int) *trial {
	toEnd, fromEnd := to, from
	for _, l := range loops {
		reachTo, reachFrom := (l.N-1)*l.To, (l.N-1)*l.From
		to, from = to+max(0, -reachTo), from+max(0, -reachFrom)
		toEnd, fromEnd = toEnd+max(reachTo, -reachTo), fromEnd+max(reachFrom, -reachFrom)
	}
	if max(toEnd, fromEnd)+size > mostTried {
		return nil
	}
	want := bytes.Repeat([]byte{unwritten}, toEnd+size)
	c := &trial{size, loops, to, from, random[:fromEnd+size], want}
	naive(loops, c.want, c.src, to, from, size)
	return c
}

// naive copies as the loops are given.
func naive(loops []Loop, dst, src []byte, to, from, size int) {
	if len(loops) == 0 {
		copy(dst[to:][:size], src[from:])
		return
	}
	for range loops[0].N {
		naive(loops[1:], dst, src, to, from, size)
		to += loops[0].To
		from += loops[0].From
	}
}

// plan is that of a set.
func (c *trial) plan(s *Set) *Plan {
	p := NewPlan(s, c.size, c.loops)
	p.Move(c.to, c.from)
	return p
}

// check fails unless the plan of a set says what is copied, and copies that where this CPU runs
// it: at both ends of memory between guards, past the caches too.
func (c *trial) check(t *testing.T, s *Set) {
	t.Helper()
	p, what := c.plan(s), fmt.Sprintf("%s: %d B, %v", s.Name(), c.size, c.loops)
	said := bytes.Repeat([]byte{unwritten}, len(c.want))
	if touch(t, p, said, c.src); !bytes.Equal(said, c.want) {
		t.Fatalf("%s: the plan does not say what is copied", what)
	}
	if !s.Runs() {
		return
	}
	for i, dst := range ends(written, len(c.want)) {
		src := ends(read, len(c.src))[i]
		copy(src, c.src)
		for _, from := range []int{Never, 1} {
			undo := past(from)
			for i := range dst {
				dst[i] = unwritten
			}
			unfaulted(t, what, func() { p.Run(dst, src, make([]byte, p.Buffers), 2) })
			undo()
			if !bytes.Equal(dst, c.want) {
				t.Fatalf("%s: past the caches from %d B on, the copy is wrong", what, from)
			}
		}
	}
}

// past has all sets write past the caches from so many bytes on, until it is undone.
func past(from int) (undo func()) {
	var all []func()
	for _, s := range All() {
		all = append(all, tune(s, Tuning{from, from, from, from, 1, Never, 1}))
	}
	return func() {
		for _, one := range all {
			one()
		}
	}
}

// tune tunes a set until it is undone.
func tune(s *Set, to Tuning) (undo func()) {
	before := s.tuning
	s.Tune(to)
	return func() { s.tuning = before }
}

// loopsOf makes loops from a seed: a copy from a matrix of any rank, its dims
// permuted, some flipped, strided or broadcast, to a contiguous one.
func loopsOf(r *rand.Rand, size int) (loops []Loop) {
	rank := r.IntN(5)
	large := 2
	stride := 1
	for range rank {
		n := 1 + r.IntN(9)
		if large > 0 && r.IntN(2) == 0 {
			large--
			n = 1 + r.IntN(70)
			if r.IntN(6) == 0 && rank < 4 {
				n += 400
			}
		}
		l := Loop{N: n, From: stride * size}
		switch r.IntN(12) {
		case 0:
			l.From = 0
		case 1:
			l.From *= -1
			stride *= n
		case 2:
			l.From *= 2
			stride *= 2 * n
		default:
			stride *= n
		}
		loops = append(loops, l)
	}
	r.Shuffle(rank, func(i, j int) { loops[i], loops[j] = loops[j], loops[i] })
	stride = 1
	for i := range loops {
		l := &loops[i]
		l.To = stride * size
		stride *= l.N
		if r.IntN(4) == 0 {
			stride += r.IntN(3) // padded rows
		}
		if r.IntN(8) == 0 {
			l.To *= -1
		}
	}
	r.Shuffle(rank, func(i, j int) { loops[i], loops[j] = loops[j], loops[i] })
	return loops
}

// FuzzPlan compares the plans of all sets, and what these copy, with the loops.
func FuzzPlan(f *testing.F) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 40
	}
	for seed := range seeds {
		f.Add(seed, byte(seed%5), byte(seed%13), byte(seed%7))
	}
	defer func(n, m int) { collide, longFrom = n, m }(collide, longFrom)
	f.Fuzz(func(t *testing.T, seed uint64, log, toStart, fromStart byte) {
		size := 1 << (log % 5)
		// Every other copy that can goes through buffers, and every fourth in
		// long blocks, or in the order of what is read.
		collide = []int{1, math.MaxInt}[seed%2]
		longFrom = []int{0, math.MaxInt}[seed/2%2]
		loops := loopsOf(rand.New(rand.NewPCG(seed, 5)), size)
		c := newTrial(size, loops, int(toStart)*size, int(fromStart)*size)
		for _, s := range All() {
			if c != nil {
				c.check(t, s)
			}
		}
	})
}

// TestPlans compares what plans become of copies with testdata/plans.txt, and makes the copies
// that are not too large.
func TestPlans(t *testing.T) {
	defer func(n int) { longFrom = n }(longFrom)
	file := "testdata/plans.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "\t") {
			continue // what it is compared with
		}
		got.WriteString(line)
		fields := strings.Split(strings.TrimSpace(line), " | ")
		if len(fields) < 4 {
			continue // a comment
		}
		size, loops := parseCopy(t, fields)
		if longFrom = size * trips(loops); fields[2] == "short" {
			longFrom++
		}
		for _, alike := range plansOf(t, newTrial(size, loops, 0, 0), size, loops) {
			fmt.Fprintf(&got, "\t%s\n", alike)
		}
	}
	if os.Getenv("PLANS") == "write" {
		if err := os.WriteFile(file, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(text), got.String()); diff != "" {
		t.Error(diff)
	}
}

// parseCopy reads the fields of a copy.
func parseCopy(t *testing.T, fields []string) (size int, loops []Loop) {
	if _, err := fmt.Sscanf(fields[1], "%d B", &size); err != nil {
		t.Fatal(fields, err)
	}
	for field := range strings.FieldsSeq(strings.Join(fields[3:], "")) {
		var l Loop
		if _, err := fmt.Sscanf(field, "%d:%d:%d", &l.N, &l.To, &l.From); err != nil {
			t.Fatal(fields, err)
		}
		loops = append(loops, l)
	}
	return size, loops
}

// plansOf describes the plans of all sets, those that are alike once, and checks what they copy.
func plansOf(t *testing.T, c *trial, size int, loops []Loop) (all []string) {
	var descriptions []string
	sets := map[string][]*Set{}
	for _, s := range All() {
		p := NewPlan(s, size, loops)
		undo := past(1)
		if !reflect.DeepEqual(exported(p), exported(NewPlan(s, size, loops))) {
			t.Errorf("%s: %v: the plan depends on how the set is tuned", s.Name(), loops)
		}
		undo()
		d := describe(p)
		if sets[d] == nil {
			descriptions = append(descriptions, d)
		}
		sets[d] = append(sets[d], s)
		if c != nil && !(testing.Short() && len(c.src) > 1<<18) {
			c.check(t, s)
		}
	}
	for _, d := range descriptions {
		all = append(all, Names(sets[d])+": "+d)
	}
	return all
}

// exported are the loops and bodies of a plan.
func exported(p *Plan) (steps []Step) {
	for _, s := range p.Steps {
		steps = append(steps, Step{Loops: s.Loops, To: s.To, From: s.From, Body: s.Body})
	}
	return steps
}

// describe says what the steps of a plan are, how large its buffers, and from how many bytes on
// the first step is written past the caches.
func describe(p *Plan) string {
	var kinds []string
	count := map[string]int{}
	for i := range p.Steps {
		of := kind(p, &p.Steps[i])
		if count[of]++; count[of] == 1 {
			kinds = append(kinds, of)
		}
	}
	for i, of := range kinds {
		if n := count[of]; n > 1 {
			kinds[i] = fmt.Sprintf("%d times %s", n, of)
		}
	}
	if p.Buffers > 0 {
		kinds = append(kinds, fmt.Sprintf("buffers of %d B", p.Buffers))
	}
	return strings.Join(append(kinds, pastFrom(p)...), "; ")
}

// kind says what a step does, and how often.
func kind(p *Plan, s *Step) string {
	text := kindOfBody(p, s)
	for _, l := range s.Loops {
		if l.N != 1 {
			text += " " + strconv.Itoa(l.N)
		}
	}
	return text
}

func kindOfBody(p *Plan, s *Step) string {
	lines, buffered, vector := 0, false, 0
	for _, a := range s.Body {
		switch buffered = buffered || a.Buffered(); {
		case !a.Write:
			lines += a.Width
		case !a.Buffered():
			vector = max(vector, a.Width)
		}
	}
	lines /= line
	switch {
	case s.small.rows > 0:
		return fmt.Sprintf("panels, in %d B", vector)
	case buffered:
		return "blocks"
	case len(s.Body) == 2 && !s.rows:
		return "tiles of elements"
	case len(s.Body) == 2 && vector == p.size:
		return "elements"
	case len(s.Body) == 2:
		return "runs"
	case s.in == 2:
		return "tiles in order"
	case lines == 2*line/p.size:
		return "pairs of tiles"
	case lines != line/p.size:
		return "rows in registers"
	case s.Loops[len(s.Loops)-1].To == line:
		return "tiles onward"
	}
	return "tiles"
}

// pastFrom says which field of the tuning has a plan written past the caches, if any does, from
// how many bytes on.
func pastFrom(p *Plan) (words []string) {
	var to Tuning
	for name, field := range map[string]*int{
		"runs": &to.Runs, "tiles": &to.Tiles, "narrow": &to.Narrow, "blocks": &to.Blocks,
	} {
		goes := func(from int) bool {
			to = Tuning{Never, Never, Never, Never, 1, Never, 1}
			*field = from
			defer tune(p.set, to)()
			return p.PastCaches()
		}
		least, most := 1, max(2, 2*p.written())
		if !goes(least) {
			continue
		}
		for least+1 < most { // it goes from least on, and not from most on
			if middle := (least + most) / 2; goes(middle) {
				least = middle
			} else {
				most = middle
			}
		}
		words = append(words, fmt.Sprintf("past by %s from %d B", name, least))
	}
	slices.Sort(words)
	return words
}

// eachTrip calls f for every trip of a step with where each access of its body is, and with the
// loop that steps on, which is -1 at first.
func eachTrip(s Step, read, written, buffers int, f func(loop int, at []int)) {
	at, steps := make([]int, len(s.Body)), make([][]int, len(s.Body))
	var counts []int
	for _, l := range s.Loops {
		counts = append(counts, l.N)
	}
	to, from := s.Strides()
	for i, a := range s.Body {
		strides := from
		switch {
		case a.Buffered():
			at[i], strides = buffers+a.Offset, a.Strides
		case a.Write:
			at[i], strides = written+s.To+a.Offset, to
		default:
			at[i] = read + s.From + a.Offset
		}
		steps[i] = nest.Steps(counts, strides)
	}
	for l := range nest.Walk(counts) {
		for i := range at {
			if l >= 0 {
				at[i] += steps[i][l]
			}
		}
		f(l, at)
	}
}

// touch does what a plan's steps say: it reads each access of the source once,
// and writes each of the destination once, with what the loops put there. A
// read or a write too many or too few, or one of the wrong place, shows.
func touch(t *testing.T, p *Plan, dst, src []byte) {
	t.Helper()
	reads, writes, buffers := 0, 0, make([]byte, p.Buffers)
	for _, s := range p.Steps {
		var tile []byte // what was read and is not written yet
		eachTrip(s, 0, 0, 0, func(_ int, at []int) {
			tile = tile[:0]
			begins := 0 // the accesses that are read of the tile
			for i, a := range s.Body {
				first := i > 0 && a.Write && !s.Body[i-1].Write // of those that are written of it
				memory := src
				switch {
				case a.Buffered():
					memory = buffers
				case a.Write:
					memory = dst
				}
				if here := memory[at[i]:][:a.Width]; !a.Write {
					if i > 0 && s.Body[i-1].Write {
						tile, begins = tile[:0], i
					}
					tile = append(tile, here...)
				} else {
					if first {
						tile, begins = inColumns(p, s, tile, s.Body[begins:i]), i
					}
					copy(here, tile[inTile(s.Body[begins:], i-begins):])
				}
				if a.Write && !a.Buffered() {
					writes += a.Width
				} else if !a.Buffered() {
					reads += a.Width
				}
			}
		})
	}
	// Panels, which go through a buffer, read what is at an end twice, where it is no whole
	// tile: at the ends of both sides four times.
	most := p.written()
	if p.set.amd64 && p.Buffers > 0 {
		most *= 4
	}
	if bytes := p.written(); reads < bytes || reads > most || writes != bytes {
		t.Fatalf("the plan reads %d B and writes %d of %d", reads, writes, bytes)
	}
}

// inColumns puts what is read of rows in the order in which it is written: rows are transposed,
// and what is read of a buffer, to which it was written so, stays as it is.
func inColumns(p *Plan, s Step, tile []byte, reads []Access) []byte {
	rows, n := len(reads), line/p.size
	switch {
	case rows > 1 && rows == s.small.rows:
		sorted := make([]byte, len(tile))
		for i, row := range s.small.order() {
			copy(sorted[row*s.small.bytes:], tile[i*s.small.bytes:][:s.small.bytes])
		}
		return transposed(sorted, p.size, rows)
	case reads[rows-1].Buffered():
		return tile
	}
	down := func(a, b Access) int { return b.Offset - a.Offset }
	up := func(a, b Access) int { return a.Offset - b.Offset }
	if slices.IsSortedFunc(reads, up) || slices.IsSortedFunc(reads, down) {
		return transposed(tile, p.size, rows)
	}
	// Lanes of rows that are taken apart, of which two go by turns: each row has one element
	// for each that a line has.
	sorted := make([]byte, len(tile))
	for i, a := range reads {
		copy(sorted[a.Offset:], tile[i*lane:][:lane])
	}
	return transposed(sorted, p.size, n)
}

// transposed puts what is read of so many rows, one after the other, in the
// order in which it is written.
func transposed(read []byte, size, rows int) []byte {
	columns := len(read) / size / rows
	out := make([]byte, len(read))
	for n := range len(read) / size {
		copy(out[(n%columns*rows+n/columns)*size:][:size], read[n*size:])
	}
	return out
}

// inTile is where in a tile the i-th write of it is: one after the other or, where they
// are one piece of a buffer, as they lie in that.
func inTile(writes []Access, i int) int {
	before, all, end := 0, 0, 0
	for j, w := range writes {
		if !w.Write {
			break
		}
		if all += w.Width; j < i {
			before = all
		}
		end = max(end, w.Offset+w.Width-writes[0].Offset)
	}
	if writes[0].Buffered() && all == end {
		return writes[i].Offset - writes[0].Offset
	}
	return before
}
