package policies

// A Prefetcher chooses what to fetch ahead.
type Prefetcher interface {
	// after records a reference at its level and returns the blocks to fetch, valid until the next
	// call.
	after(event) []uint64
}

type event struct {
	pc     uint64 // of the instruction, if known
	op     int    // operand
	addr   uint64
	news   bool   // it missed, or was first to use a prefetched line
	newest uint64 // that line, the highest of several
	seen   bool   // the current reference has an event
}

// NextLine: see simcache.PrefetchKind.
func NextLine(degree int) func(shift uint) Prefetcher {
	return func(shift uint) Prefetcher { return &nextLine{degree: degree, shift: shift} }
}

// Strides: see simcache.PrefetchKind.
func Strides(degree int) func(shift uint) Prefetcher {
	return func(shift uint) Prefetcher { return &strides{degree: degree, shift: shift} }
}

type nextLine struct {
	degree int
	shift  uint
	blocks []uint64
}

// pageShift is log2 of the page that hardware prefetchers stay in.
const pageShift = 12

func (p *nextLine) after(e event) []uint64 {
	p.blocks = p.blocks[:0]
	if !e.news {
		return nil
	}
	for k := range uint64(p.degree) {
		next := e.newest + k + 1
		if next<<p.shift>>pageShift != e.newest<<p.shift>>pageShift {
			break
		}
		p.blocks = append(p.blocks, next)
	}
	return p.blocks
}

// strides is a reference prediction table: direct-mapped, by instruction and operand.
type strides struct {
	degree int
	shift  uint
	table  [64]prediction
	blocks []uint64
}

type prediction struct {
	pc     uint64
	op     int
	last   uint64 // address
	stride uint64 // modulo 2^64
	state  uint8
	known  bool
}

// The states of a prediction (Chen and Baer, figure 4).
const (
	initial = iota
	transient
	steady
	erratic
)

func (p *strides) after(e event) []uint64 {
	p.blocks = p.blocks[:0]
	t := &p.table[(e.pc^uint64(e.op))%uint64(len(p.table))]
	if !t.known || t.pc != e.pc || t.op != e.op {
		*t = prediction{pc: e.pc, op: e.op, last: e.addr, known: true}
		return nil
	}
	t.learn(e.addr)
	if t.state != steady || t.stride == 0 {
		return nil
	}
	for k := range uint64(p.degree) {
		next := e.addr + (k+1)*t.stride
		if down := int64(t.stride) < 0; down != (next < e.addr) { // the address overflows
			break
		}
		p.blocks = append(p.blocks, next>>p.shift)
	}
	return p.blocks
}

// learn compares an address with its prediction.
func (t *prediction) learn(addr uint64) {
	stride := addr - t.last
	t.last = addr
	right := stride == t.stride
	switch {
	case right && t.state == erratic:
		t.state = transient
	case right:
		t.state = steady
	case t.state == steady:
		t.state = initial // the stride stays
	case t.state == initial:
		t.state, t.stride = transient, stride
	default:
		t.state, t.stride = erratic, stride
	}
}
