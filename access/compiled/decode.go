package compiled

import (
	"fmt"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// A word without a place begins a message of four words; see runtime/accesses.c.
const (
	saysPlace = 1 + iota
	saysAlloc
	saysRange
	saysThreads
	saysFork
	saysFull
	saysBy
)

type decoder struct {
	program *Program
	sink    Sink
	places  []place // by the runtime's number, from 1
	objects *objects
	said    [4]uint64 // the words of a message
	words   int       // of said, that have come
	arrange Arrangement
	callers [6]uint64 // of the next allocation, the innermost first
	by      map[[7]uint64]Place
	outcome Outcome
	batch   []simcache.Reference // not yet passed to the sink
	ranges  []byteRange          // not yet accesses
	special bool                 // a message is incomplete, or ranges are held
}

// batchSize is the number of accesses passed to a sink at a time; they fit an L1 cache.
const batchSize = 512

func (d *decoder) access(source int, addr uint64, size int) {
	r := simcache.Reference{Addr: addr, Source: int32(source), Size: int32(size)}
	if d.batch = append(d.batch, r); len(d.batch) >= batchSize {
		d.flush()
	}
}

func (d *decoder) flush() {
	d.sink.Accesses(d.batch)
	d.batch = d.batch[:0]
}

// allocator returns the line that allocated memory: the innermost call outside system headers.
func (d *decoder) allocator(pc uint64) Place {
	key := [7]uint64{pc}
	copy(key[1:], d.callers[:])
	at, known := d.by[key]
	if known {
		return at
	}
	for _, pc := range key {
		if at = d.program.ownPlace(pc - 1 - d.program.bias); at.File != "" && !ofSystem(at.File) {
			break
		}
	}
	d.by[key] = at
	return at
}

// A place is code that makes accesses of one kind and width.
type place struct {
	width int
	kind  nest.Kind
	where Place

	last    placed // the object it last accessed
	changed uint64 // objects.changed when last was looked up
	source  int    // for last
	sources map[sourceKey]int
}

type sourceKey struct {
	object int
	kind   nest.Kind
}

func (d *decoder) decode(words []uint64) error {
	batch := d.batch
	for _, w := range words {
		if d.special || w>>48 == 0 {
			d.batch = batch
			isAccess, err := d.take(w)
			if err != nil {
				return err
			}
			if batch = d.batch; !isAccess {
				continue
			}
		}
		p, addr := &d.places[w>>48], w&(1<<48-1)
		if addr-p.last.from >= p.last.size || p.changed != d.objects.changed {
			p.source, p.last = d.source(p, addr, p.kind)
			p.changed = d.objects.changed
		}
		if p.source < 0 {
			continue
		}
		batch = append(batch, simcache.Reference{
			Addr: addr + p.last.move, Source: int32(p.source), Size: int32(p.width)})
		if len(batch) >= batchSize {
			d.sink.Accesses(batch)
			batch = batch[:0]
		}
	}
	d.batch = batch
	d.flush()
	return nil
}

// take handles a word that may belong to a message, and reports whether it is an access.
func (d *decoder) take(w uint64) (isAccess bool, err error) {
	if d.words == 0 && w>>48 != 0 {
		d.release()
		return true, nil
	}
	d.said[d.words] = w
	if d.words++; d.words == len(d.said) {
		d.words = 0
		err = d.say()
	}
	d.special = d.words > 0 || len(d.ranges) > 0
	return false, err
}

// source returns the source of a place's accesses to an address, and the addresses that share it;
// -1 if they are not reported.
func (d *decoder) source(p *place, addr uint64, kind nest.Kind) (int, placed) {
	within := d.objects.find(addr)
	if within.hidden {
		return -1, within
	}
	key := sourceKey{within.object, kind}
	source, known := p.sources[key]
	if !known {
		source = d.sink.New(Source{Kind: kind, Place: p.where,
			Object: d.objects.names[within.object]})
		p.sources[key] = source
	}
	return source, within
}

// kinds are numbered as in the runtime.
var kinds = [...]nest.Kind{nest.Read, nest.Write, nest.Modify}

func (d *decoder) say() error {
	a, b, c := d.said[1], d.said[2], d.said[3]
	switch d.said[0] {
	case saysPlace:
		d.places = append(d.places, place{width: int(b), kind: kinds[c],
			where: d.program.place(a - 1 - d.program.bias), sources: map[sourceKey]int{}})
	case saysAlloc:
		d.release()
		if by := d.allocator(c); !d.arrangeParameter(span{a, b}, by) {
			d.objects.allocate(a, b, by)
		}
	case saysBy:
		copy(d.callers[:], d.callers[3:]) // the outer ones come last
		copy(d.callers[3:], []uint64{a, b, c})
	case saysRange:
		d.hold(byteRange{place: int(a), addr: b & (1<<48 - 1), bytes: c,
			kind: kinds[b>>48&1], library: b>>48&ofLibrary != 0})
	case saysThreads:
		d.outcome.Stopped = "it starts a thread, and the order of accesses of several is not known"
	case saysFork:
		d.outcome.Forked = true
	case saysFull:
		d.outcome.Stopped = "more than 60,000 places in its code make accesses"
	default:
		return fmt.Errorf("a word %#x: the program was built by another bench", d.said[0])
	}
	return nil
}
