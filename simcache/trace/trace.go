// Package trace reads and writes memory traces, with one access per line:
// Lackey's (valgrind --tool=lackey --trace-mem=yes) and Dinero's din. They are
// replayed through package simcache.
//
//  1. Record a trace with one of these programs, or write one with a [Writer].
//  2. [Records] reads it, access by access, gzipped or plain.
//  3. [Replay] counts the misses of the trace. [Feed] does so on a hierarchy that
//     you can then query further, and [FeedRegions] also by what lies where.
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
	"strings"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// A Kind says what a record does.
type Kind uint8

// The kinds of record. A Modify is a read and a write of one place by one
// instruction.
const (
	Fetch Kind = iota
	Read
	Write
	Modify
)

// A Record is one access of a trace: Size bytes at Addr.
type Record struct {
	Kind Kind
	Addr uint64
	Size int
}

// A Format is the form of a trace.
type Format uint8

// The formats.
const (
	// Lackey has lines "I  addr,size", " L addr,size", " S addr,size" and
	// " M addr,size", with addr in hex and size in decimal
	// (lackey/lk_main.c). Lines of Valgrind's own, "==pid== ...", are skipped.
	Lackey Format = iota
	// Din has lines "label addr", with label 0 for a read, 1 for a write and 2
	// for a fetch, addr in hex, and, as here, optionally a size in decimal
	// (Dinero IV, "din" input format). Without a size, an access is 4 bytes.
	// It has no modify: written, one is a read and a write.
	Din
)

// dinSize is the size of an access of din that tells none.
const dinSize = 4

// maxSize bounds the size of an access: the widest that a CPU has (xsave) is
// well below.
const maxSize = 1 << 16

// lastAddr is where the last access of a trace begins of which lines of 1 and 2 B are
// numbered.
const lastAddr = 1<<62 - maxSize

// want is what a line may be, with maxSize in words.
const want = "I, L, S or M with hex address,size as lackey writes it, or a label 0 to 2 and a " +
	"hex address as din has them; " +
	"of 1 to 65536 B within 64 bits of address"

// A SyntaxError is a line that is no record.
type SyntaxError struct {
	File string
	Line int
	Text string
	Want string
}

// Error is "file:line: text" and what would be right.
func (e *SyntaxError) Error() string {
	text := e.Text
	if e.Line == 1 && (strings.HasPrefix(text, "\xFF\xFE") || strings.HasPrefix(text, "\xFE\xFF")) {
		return fmt.Sprintf("%s: it is UTF-16, as > of PowerShell writes it: want UTF-8 (| "+
			"Out-File -Encoding utf8)", e.File)
	}
	if len(text) > 80 {
		text = text[:77] + "..."
	}
	return fmt.Sprintf("%s:%d: %q is not an access (want %s)", e.File, e.Line, text, e.Want)
}

// Records yields the records of a trace, gzipped or plain, and ends after the
// first error: a *SyntaxError with file and line, or one of reading. The format
// is told by the first line. The file's name is for errors.
func Records(r io.Reader, file string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		plain, err := unzip(r)
		if err != nil {
			if of, ok := errors.AsType[*fs.PathError](err); ok { // which names it once more
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
				n-- // it is no line, but a part of one, and what comes after is what is wrong
				break
			}
			if !ok {
				yield(Record{}, &SyntaxError{file, n, string(line), want})
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

// unzip looks for gzip's magic number, and skips a mark of UTF-8 at the head of the text.
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
	const mark = "\xEF\xBB\xBF"
	if head, _ := text.Peek(len(mark)); string(head) == mark { // an error is the next read's, too
		_, err = text.Discard(len(mark))
		return text, err
	}
	return text, nil
}

func parseLackey(line []byte) (Record, bool) {
	kind := bytes.IndexByte([]byte("ILSM"), line[0]) // in the order of the kinds
	rest, spaced := bytes.CutPrefix(line[1:], []byte(" "))
	addr, size, sized := bytes.Cut(bytes.TrimLeft(rest, " "), []byte(","))
	if kind < 0 || !spaced || !sized {
		return Record{}, false
	}
	return record(Kind(kind), addr, size)
}

func parseDin(line []byte) (Record, bool) {
	fields := bytes.Fields(line)
	if len(fields) < 2 || len(fields) > 3 || len(fields[0]) != 1 || fields[0][0] < '0' ||
		fields[0][0] > '2' {
		return Record{}, false
	}
	size := []byte(strconv.Itoa(dinSize))
	if len(fields) == 3 {
		size = fields[2]
	}
	return record([]Kind{Read, Write, Fetch}[fields[0][0]-'0'],
		bytes.TrimPrefix(fields[1], []byte("0x")), size)
}

// record parses the numbers. An access must not run over the end of memory.
func record(kind Kind, addr, size []byte) (Record, bool) {
	a, err := strconv.ParseUint(string(addr), 16, 64)
	if err != nil {
		return Record{}, false
	}
	n, err := strconv.ParseUint(string(size), 10, 32)
	if err != nil || n == 0 || n > maxSize || a+n-1 < a {
		return Record{}, false
	}
	return Record{kind, a, int(n)}, true
}

// A Writer writes a trace.
type Writer struct {
	w      *bufio.Writer
	format Format
}

// NewWriter returns a writer of the format; Flush ends it.
func NewWriter(w io.Writer, format Format) *Writer { return &Writer{bufio.NewWriter(w), format} }

// Write writes one record.
func (w *Writer) Write(r Record) error {
	var err error
	if w.format == Lackey {
		_, err = fmt.Fprintf(w.w, "%s %08x,%d\n", [...]string{"I ", " L", " S", " M"}[r.Kind],
			r.Addr, r.Size)
		return err
	}
	for _, label := range [...]string{Fetch: "2", Read: "0", Write: "1", Modify: "01"}[r.Kind] {
		if _, err = fmt.Fprintf(w.w, "%c %x %d\n", label, r.Addr, r.Size); err != nil {
			break
		}
	}
	return err
}

// Flush writes what is buffered.
func (w *Writer) Flush() error { return w.w.Flush() }

// Replay simulates a trace from cold caches and returns the counts; see Feed.
func Replay(c simcache.Config, records iter.Seq2[Record, error]) (simcache.Counts, error) {
	h, err := simcache.NewHierarchy(c)
	if err != nil {
		return simcache.Counts{}, err
	}
	if err := Feed(h, c, records); err != nil {
		return simcache.Counts{}, err
	}
	return h.Counts(), nil
}

// Feed simulates a trace on a hierarchy made of c as Cachegrind simulates the
// program that it is of: accesses in order, a modify as one read, and wide ones
// clipped (simcache.Config.Clip). The hierarchy must have an I1 if the trace has
// fetches.
func Feed(h *simcache.Hierarchy, c simcache.Config, records iter.Seq2[Record, error]) error {
	hasI1 := c.I1 != simcache.Geometry{}
	widest, least := c.Clip(maxSize), c.I1.Line
	if !hasI1 {
		least = c.Levels[0].Line
	}
	for _, l := range c.Levels {
		least = min(least, l.Line)
	}
	for r, err := range records {
		if err != nil {
			return err
		}
		size := min(r.Size, widest)
		switch {
		case least < 4 && r.Addr > lastAddr:
			return fmt.Errorf("address %#x: lines of %d B want addresses of 62 bits (or lines of "+
				"4 B or more)", r.Addr, least)
		case r.Kind == Fetch && !hasI1:
			return errors.New("the trace has instruction fetches, and no I1 is simulated (a " +
				"description has one as i1: {size: 32KiB, ways: 8, line: 64})")
		case r.Kind == Fetch:
			h.Fetch(r.Addr, size)
		case r.Kind == Write:
			h.Access(nest.Write, r.Addr, size)
		case r.Kind == Modify:
			h.Access(nest.Modify, r.Addr, size) // a read that leaves a dirty line
		default:
			h.Access(nest.Read, r.Addr, size)
		}
	}
	return nil
}

// A Region is what lies from an address on.
type Region struct {
	Name string
	Base uint64
}

// FeedRegions is [Feed], and returns the counts of the accesses that begin in
// each region, up to the next one's base. One region alone has all that is
// counted. Several are in ascending order of addresses.
func FeedRegions(h *simcache.Hierarchy, c simcache.Config, records iter.Seq2[Record, error],
	regions ...Region) ([]simcache.Line, error) {
	lines := make([]simcache.Line, len(regions))
	for i, r := range regions {
		lines[i].Function = r.Name
	}
	before := h.Counts()
	if len(regions) == 1 {
		err := Feed(h, c, records)
		lines[0].Counts = h.Counts().Sub(before)
		return lines, err
	}
	return lines, Feed(h, c, func(yield func(Record, error) bool) {
		for r, err := range records {
			if !yield(r, err) { // which is when the access is made
				return
			}
			at := len(regions) - 1
			for at > 0 && r.Addr < regions[at].Base {
				at--
			}
			now := h.Counts()
			lines[at].Counts = lines[at].Counts.Add(now.Sub(before))
			before = now
		}
	})
}
