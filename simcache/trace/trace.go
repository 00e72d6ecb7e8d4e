// Package trace reads and writes memory traces, with one access per line: Lackey's (valgrind
// --tool=lackey --trace-mem=yes) and Dinero's din. Package simcache replays them.
//
//  1. Record a trace with Lackey, or for Dinero.
//  2. [Records] reads it, access by access, gzipped or plain.
//  3. [Feed] simulates it on a hierarchy of caches, and counts its misses by region of addresses.
package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strconv"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// A Record is one access of a trace: Size bytes at Addr. A modify is a read and a write of one
// place by one instruction.
type Record struct {
	Fetch bool      // of an instruction
	Kind  nest.Kind // of data
	Addr  uint64
	Size  int
}

const dinSize = "4" // bytes of an access that states none

// maxSize bounds the size of an access. The widest of a CPU (xsave) is well below.
const maxSize = 1 << 16

// lastAddr is the last address of an access whose lines of 1 or 2 B can be numbered.
const lastAddr = 1<<62 - maxSize

const want = "I, L, S or M with hex address,size as lackey writes it, or a label 0 to 2 and a " +
	"hex address as din has them; " +
	"of 1 to 65536 B within 64 bits of address"

func syntaxError(file string, line int, text string) error {
	if len(text) > 80 {
		text = text[:77] + "..."
	}
	return fmt.Errorf("%s:%d: %q is not an access (want %s)", file, line, text, want)
}

// Records yields the records of a trace, gzipped or plain, in the first line's format. It ends
// after the first error, which names the file and the line.
//
// Lackey has lines "I  addr,size", " L addr,size", " S addr,size" and " M addr,size", with hex addr
// and decimal size (lackey/lk_main.c). Valgrind's lines, "==pid== ...", are skipped. Dinero has
// lines "label addr", with label 0 for a read, 1 for a write and 2 for a fetch, and hex addr
// (Dinero IV, "din" input format). A decimal size may follow; the default is 4 bytes.
func Records(r io.Reader, file string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		plain, err := unzip(r)
		if err != nil {
			if of, ok := errors.AsType[*fs.PathError](err); ok { // the message below has the name
				err = of.Err
			}
			yield(Record{}, fmt.Errorf("%s: %w", file, err))
			return
		}
		lines := bufio.NewScanner(plain)
		var parse func([]byte) (Record, bool)
		n := 0
		for lines.Scan() {
			n++
			line := bytes.TrimSpace(lines.Bytes())
			if len(line) == 0 || bytes.HasPrefix(line, []byte("==")) {
				continue
			}
			if parse == nil {
				if parse = parseLackey; line[0] >= '0' && line[0] <= '9' {
					parse = parseDin
				}
			}
			record, ok := parse(line)
			if !ok && !lines.Scan() && lines.Err() != nil {
				n-- // the line is incomplete: the read error after it is the cause
				break
			}
			if !ok {
				yield(Record{}, syntaxError(file, n, string(line)))
				return
			}
			if !yield(record, nil) {
				return
			}
		}
		if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
			yield(Record{}, fmt.Errorf("%s:%d: a line of more than %d KiB: this is not a trace",
				file, n+1, bufio.MaxScanTokenSize>>10))
		} else if errors.Is(err, io.ErrUnexpectedEOF) {
			yield(Record{}, fmt.Errorf("%s:%d: its gzip stream is cut off", file, n+1))
		} else if err != nil {
			yield(Record{}, fmt.Errorf("%s:%d: %w", file, n+1, err))
		}
	}
}

// unzip detects gzip.
func unzip(r io.Reader) (io.Reader, error) {
	text := bufio.NewReaderSize(r, 1<<16)
	magic, err := text.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.Equal(magic, []byte{0x1F, 0x8B}) {
		packed, err := gzip.NewReader(text)
		if err != nil {
			return nil, err
		}
		text = bufio.NewReaderSize(packed, 1<<16)
	}
	return text, nil
}

// kinds are a load, a store, a modify and a fetch.
var kinds = []Record{{Kind: nest.Read}, {Kind: nest.Write}, {Kind: nest.Modify}, {Fetch: true}}

func parseLackey(line []byte) (Record, bool) {
	kind := bytes.IndexByte([]byte("LSMI"), line[0])
	rest, spaced := bytes.CutPrefix(line[1:], []byte(" "))
	addr, size, sized := bytes.Cut(bytes.TrimLeft(rest, " "), []byte(","))
	if kind < 0 || !spaced || !sized {
		return Record{}, false
	}
	return record(kinds[kind], addr, size)
}

func parseDin(line []byte) (Record, bool) {
	fields := bytes.Fields(line)
	if len(fields) < 2 || len(fields) > 3 || len(fields[0]) != 1 || fields[0][0] < '0' ||
		fields[0][0] > '2' {
		return Record{}, false
	}
	size := []byte(dinSize)
	if len(fields) == 3 {
		size = fields[2]
	}
	return record([]Record{kinds[0], kinds[1], kinds[3]}[fields[0][0]-'0'],
		bytes.TrimPrefix(fields[1], []byte("0x")), size)
}

// record rejects an access beyond the end of memory.
func record(kind Record, addr, size []byte) (Record, bool) {
	a, err := strconv.ParseUint(string(addr), 16, 64)
	if err != nil {
		return Record{}, false
	}
	n, err := strconv.ParseUint(string(size), 10, 32)
	if err != nil || n == 0 || n > maxSize || a+n-1 < a {
		return Record{}, false
	}
	return Record{kind.Fetch, kind.Kind, a, int(n)}, true
}

// A Region begins at an address and ends at the next region.
type Region struct {
	Name string
	Base uint64
}

// Feed simulates a trace on a hierarchy made from c, as Cachegrind does the program: in order, a
// modify as one read, wide accesses clipped (simcache.Config.Clip). A trace with fetches needs an
// I1. Feed returns the counts of the accesses that begin in each region, in ascending order of
// addresses. A single region gets all accesses.
func Feed(h *simcache.Hierarchy, c simcache.Config, records iter.Seq2[Record, error],
	regions ...Region) ([]simcache.Counts, error) {
	counts := make([]simcache.Counts, len(regions))
	before := h.Counts()
	add := func(at int) {
		now := h.Counts()
		counts[at] = counts[at].Add(now.Sub(before))
		before = now
	}
	check, widest := checker(c), c.Clip(maxSize)
	for r, err := range records {
		if err == nil {
			err = check(r)
		}
		switch size := min(r.Size, widest); {
		case err != nil:
			return counts, err
		case r.Fetch:
			h.Fetch(r.Addr, size)
		default:
			h.Access(r.Kind, r.Addr, size) // a modify is a read that leaves a dirty line
		}
		if len(regions) > 1 {
			at := len(regions) - 1
			for at > 0 && r.Addr < regions[at].Base {
				at--
			}
			add(at)
		}
	}
	if len(regions) == 1 {
		add(0)
	}
	return counts, nil
}

// checker returns a function that refuses records that caches cannot take.
func checker(c simcache.Config) func(Record) error {
	hasI1, least := c.I1 != simcache.Geometry{}, c.Levels[0].Line
	if hasI1 {
		least = c.I1.Line
	}
	for _, l := range c.Levels {
		least = min(least, l.Line)
	}
	return func(r Record) error {
		switch {
		case least < 4 && r.Addr > lastAddr:
			return fmt.Errorf("address %#x: lines of %d B want addresses of 62 bits (or lines of "+
				"4 B or more)", r.Addr, least)
		case r.Fetch && !hasI1:
			return errors.New("the trace has instruction fetches, and no I1 is simulated (a " +
				"description has one as i1: {size: 32KiB, ways: 8, line: 64})")
		}
		return nil
	}
}
