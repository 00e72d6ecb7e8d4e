package merge

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/infile"
	"github.com/stridebench/stridebench/results/keys"
	"github.com/stridebench/stridebench/results/show"
)

// A file describes a file of results without its samples. Concatenated files, as from bench history
// export, are a file each.
type file struct {
	path     string
	text     *bytes.Buffer // of stdin; else it is read again
	line     int           // its first line, 0 for the first file of its path
	config   []results.Pair
	comments []results.Pair // of the head and the end
	units    []string       // lines
	index    int            // of its shard, from 1
	of       int
	spans    []span
	results  int
	fault    error // why the file is incomplete
}

// String names a file in errors.
func (f *file) String() string {
	if f.line == 0 {
		return f.path
	}
	return fmt.Sprintf("%s from line %d on", f.path, f.line)
}

type span struct {
	file     *file
	place    int // in the suite, from 1; 0 in a file of a whole run
	from, to int64
	family   string // in force before it, unless it begins with its own
	last     string // in force after it
	own      bool
}

func value(pairs []results.Pair, key string) string {
	for _, p := range pairs {
		if p.Key == key {
			return p.Value
		}
	}
	return ""
}

const (
	maxLine  = 1 << 20
	maxPairs = 10000   // in the head or the comments of a file
	maxKept  = 1 << 17 // lines of all heads in one file
)

var (
	errCut    = errors.New("it is cut off: its last line is not \"# end: N results\"")
	errMerged = errors.New("which is merged already") // of a file with several runs
	errLine   = errors.New("a line has no end, or more than 1 MiB")
	errName   = errors.New("want numbers after the name") // benchfmt ignores such lines
)

// scan reads a file and those concatenated to it line by line. It returns errors of the file
// system; faults of the text are in file.fault.
func scan(path string, stdin io.Reader) (all []*file, err error) {
	s := scanner{file: &file{path: path, index: 1, of: 1}, end: -1}
	in := stdin
	if path == "-" {
		s.file.text = new(bytes.Buffer) // read only up to the first fault
		in = io.TeeReader(stdin, s.file.text)
	} else {
		opened, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer opened.Close()
		in = opened
	}
	lines := bufio.NewReaderSize(in, maxLine)
	s.at = int64(infile.SkipMark(lines))
	for n := 1; s.file.fault == nil; n++ {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF && len(line) == 0 {
			break
		}
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		if err != nil {
			s.file.fault = fmt.Errorf("line %d: %w", n, errLine)
			break
		}
		s.next = s.at + int64(len(line))
		// as every reader of the format does
		line = bytes.TrimSuffix(line[:len(line)-1], []byte("\r"))
		if s.ended(line) {
			all = append(all, s.finish())
			s.follow(n)
		}
		if err := s.line(line); err != nil {
			s.file.fault = fmt.Errorf("line %d: %w", n, err)
			break
		}
		s.at = s.next
	}
	return append(all, s.finish()), nil
}

func (f *file) foreign() error {
	var head []byte
	if f.text != nil {
		head = f.text.Bytes()
	} else if in, err := os.Open(f.path); err == nil {
		head, _ = io.ReadAll(io.LimitReader(in, maxLine))
		in.Close()
	}
	if _, err := results.Parse(f.path, head); err != nil {
		return err
	}
	return fmt.Errorf("%s holds no result: %w", f.path, f.fault)
}

func (s *scanner) ended(line []byte) bool {
	return s.end >= 0 && len(line) > 0 && !bytes.HasPrefix(line,
		[]byte("# "+keys.History+": "))
}

// follow begins the next concatenated file. As for every reader of the format, the earlier
// configuration holds until a line replaces it.
func (s *scanner) follow(line int) {
	s.file = &file{path: s.file.path, text: s.file.text, line: line, index: 1, of: 1,
		config: slices.Clone(s.file.config)}
	s.end = -1
	if s.kept += 1 + len(s.file.config); s.kept > maxKept {
		s.file.fault = fmt.Errorf("line %d: more runs in one file than can be merged", line)
	}
}

func (s *scanner) finish() *file {
	s.close()
	switch {
	case s.file.fault != nil:
	case s.end < 0:
		s.file.fault = errCut
	case s.end != s.file.results:
		s.file.fault = fmt.Errorf("it has %s, and its last line says %d",
			show.Counted(s.file.results, "result"), s.end)
	}
	return s.file
}

type scanner struct {
	file   *file
	at     int64
	next   int64 // start of the next line
	open   bool  // the last span is open
	fresh  bool  // only comments in it so far
	family string
	end    int // number on the last line, -1 without one
	kept   int // lines of configuration carried over to later files
	format benchfmt.Reader
}

func (s *scanner) close() {
	if s.open {
		last := &s.file.spans[len(s.file.spans)-1]
		last.to, last.last, s.open = s.at, s.family, false
	}
}

func (s *scanner) begin(at int64, place int) {
	s.close()
	s.file.spans = append(s.file.spans, span{file: s.file, place: place, from: at,
		family: s.family})
	s.open, s.fresh = true, true
}

func (s *scanner) line(line []byte) error {
	switch {
	case bytes.HasPrefix(line, []byte("Benchmark")):
		if !s.open {
			s.begin(s.at, 0)
		}
		s.fresh = false
		if err := s.syntax(line); err != nil {
			return err
		}
		s.file.results++
		return nil
	case bytes.HasPrefix(line, []byte("# ")):
		return s.comment(string(line[2:]))
	case bytes.HasPrefix(line, []byte("Unit ")):
		s.file.units = append(s.file.units, string(line))
		return cmp.Or(s.syntax(line), s.few(len(s.file.units)))
	case len(line) == 0:
		return nil
	}
	key, value, ok := strings.Cut(string(line), ":")
	if value = strings.TrimSpace(value); !ok || key == "" || key[0] < 'a' || key[0] > 'z' ||
		strings.ContainsAny(key, " \t") {
		return fmt.Errorf("%.60q is not a line of results", line)
	}
	if key == keys.Family {
		s.family = value
		// in the head, where it ends the family of the file before
		if value == "" && s.file.results == 0 {
			return nil
		}
		if !s.open {
			s.begin(s.at, 0)
		}
		last := &s.file.spans[len(s.file.spans)-1]
		last.own = last.own || s.fresh
		return nil
	}
	if s.file.results > 0 {
		return fmt.Errorf("%s changes inside the file, %w: take the files that it was made of",
			key, errMerged)
	}
	s.file.config = slices.DeleteFunc(s.file.config, func(p results.Pair) bool {
		return p.Key == key
	})
	if value == "" { // some machines' lines have none
		return nil
	}
	s.file.config = append(s.file.config, results.Pair{Key: key, Value: value})
	return s.few(len(s.file.config))
}

// syntax returns the error that benchfmt has for a line.
func (s *scanner) syntax(line []byte) error {
	for s.format.Reset(bytes.NewReader(line), ""); s.format.Scan(); {
		switch record := s.format.Result().(type) {
		case *benchfmt.SyntaxError:
			return fmt.Errorf("%.60q: %s", line, record.Msg)
		case *benchfmt.Result:
			if !slices.ContainsFunc(record.Values, func(v benchfmt.Value) bool {
				return !(v.Value >= 0) || math.IsInf(v.Value, 0)
			}) {
				return nil
			}
			return fmt.Errorf("%.60q has a value that is not a finite number from 0 on", line)
		}
	}
	if err := s.format.Err(); err != nil || line[0] == 'B' {
		return fmt.Errorf("%.60q: %w", line, cmp.Or(err, errName))
	}
	return nil
}

func (s *scanner) few(n int) error {
	if n > maxPairs {
		return fmt.Errorf("more than %d lines of a head", maxPairs)
	}
	return nil
}

// comment keeps comments on the whole file. Those on samples stay in the text.
func (s *scanner) comment(text string) (err error) {
	key, value, _ := strings.Cut(text, ": ")
	switch key {
	case keys.Part:
		place, err := strconv.Atoi(value)
		if err != nil || place < 1 {
			return fmt.Errorf("part %q: want a number", value)
		}
		s.begin(s.next, place)
		return nil
	case keys.Shard:
		var index, of int
		if _, err := fmt.Sscanf(value, "%d/%d", &index, &of); err != nil || index < 1 ||
			index > of || of > 1<<20 {
			return fmt.Errorf("shard %q: want i/n", value)
		}
		s.file.index, s.file.of = index, of
		return nil
	case keys.End:
		s.close()
		if _, err := fmt.Sscanf(value, "%d results", &s.end); err != nil || s.end < 0 {
			return fmt.Errorf("end %q: want a number of results", value)
		}
		return nil
	case "pages-obtained", keys.History:
		return nil
	}
	if s.file.results > 0 { // comments on the whole run, after its samples
		s.close()
	}
	s.file.comments = append(s.file.comments, results.Pair{Key: key, Value: value})
	return s.few(len(s.file.comments))
}
