package merge

import (
	"bufio"
	"bytes"
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
)

// A file is what is known of one file of results without its samples, which stay
// where they are. Of files that were written one after the other into one, as
// bench history export does, each is one.
type file struct {
	path     string
	text     *bytes.Buffer // of stdin; else it stays where it is
	line     int           // that it begins at, 0 for the first of its path
	config   []results.Pair
	comments []results.Pair // of the head and of the end
	units    []string       // lines
	index    int            // of its shard, from 1
	of       int
	spans    []span
	results  int
	fault    error // why the file is not complete
}

// String names a file in errors.
func (f *file) String() string {
	if f.line == 0 {
		return f.path
	}
	return fmt.Sprintf("%s from line %d on", f.path, f.line)
}

// A span is a part of the suite in a file: whole lines.
type span struct {
	file     *file
	place    int // in the suite, from 1; 0 in a file of a whole run
	from, to int64
	family   string // in force before its first line, unless it says its own first
	last     string // in force after it
	own      bool
}

// value is that of a key, "" if it has none.
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
	maxPairs = 10000   // in the head and among the comments of a file
	maxKept  = 1 << 17 // lines of heads of all that are in one file
)

var (
	errCut    = errors.New("it is cut off: its last line is not \"# end: N results\"")
	errMerged = errors.New("which is merged already") // of a file that has several runs
	errLine   = errors.New("a line has no end, or more than 1 MiB")
)

// scan reads what may be large line by line, with the files that follow one another in it. An error
// is of the file system; what is wrong with the text is file.fault.
func scan(path string, stdin io.Reader) (all []*file, err error) {
	s := scanner{file: &file{path: path, index: 1, of: 1}, end: -1}
	in := stdin
	if path == "-" {
		s.file.text = new(bytes.Buffer) // as far as it is read: no more than what is wrong with it
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
	s.at = int64(results.SkipMark(lines))
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

// foreign says why a file has no result, as other readers do.
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

// ended tells whether a line is behind the last one of the file.
func (s *scanner) ended(line []byte) bool {
	return s.end >= 0 && len(line) > 0 && !bytes.HasPrefix(line,
		[]byte("# "+results.HistoryKey+": "))
}

// follow begins the next file at a line. As every reader of the format has it, what the one before
// says of its configuration holds until something else is said.
func (s *scanner) follow(line int) {
	s.file = &file{path: s.file.path, text: s.file.text, line: line, index: 1, of: 1,
		config: slices.Clone(s.file.config)}
	s.end = -1
	if s.kept += 1 + len(s.file.config); s.kept > maxKept {
		s.file.fault = fmt.Errorf("line %d: more runs in one file than can be merged", line)
	}
}

// finish ends the file and says whether it is complete.
func (s *scanner) finish() *file {
	s.close()
	switch {
	case s.file.fault != nil:
	case s.end < 0:
		s.file.fault = errCut
	case s.end != s.file.results:
		s.file.fault = fmt.Errorf("it has %s, and its last line says %d",
			results.Counted(s.file.results, "result"), s.end)
	}
	return s.file
}

// A scanner is at a line of a file.
type scanner struct {
	file   *file
	at     int64
	next   int64 // where the next line begins
	open   bool  // the last span of the file
	fresh  bool  // no line of it was seen but comments
	family string
	end    int // what the last line says, -1 if it says nothing
	kept   int // lines of configuration that files go on with
	units  benchfmt.Reader
}

// close ends the last span.
func (s *scanner) close() {
	if s.open {
		last := &s.file.spans[len(s.file.spans)-1]
		last.to, last.last, s.open = s.at, s.family, false
	}
}

// begin begins a span at a place in the file.
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
		if err := check(line); err != nil {
			return err
		}
		s.file.results++
		return nil
	case bytes.HasPrefix(line, []byte("# ")):
		return s.comment(string(line[2:]))
	case bytes.HasPrefix(line, []byte("Unit ")):
		return s.unit(line)
	case len(line) == 0:
		return nil
	}
	key, value, ok := strings.Cut(string(line), ":")
	if value = strings.TrimSpace(value); !ok || key == "" || key[0] < 'a' || key[0] > 'z' ||
		strings.ContainsAny(key, " \t") {
		return fmt.Errorf("%.60q is not a line of results", line)
	}
	if key == results.FamilyKey {
		s.family = value
		// in the head, where it ends that of the file before
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

// unit takes what is said of a unit, if the format has it so.
func (s *scanner) unit(line []byte) error {
	for s.units.Reset(bytes.NewReader(line), ""); s.units.Scan(); {
		if wrong, is := s.units.Result().(*benchfmt.SyntaxError); is {
			return fmt.Errorf("%.60q: %s", line, wrong.Msg)
		}
	}
	if err := s.units.Err(); err != nil {
		return fmt.Errorf("%.60q: %w", line, err)
	}
	s.file.units = append(s.file.units, string(line))
	return s.few(len(s.file.units))
}

// few refuses a head that is larger than any that the program writes.
func (s *scanner) few(n int) error {
	if n > maxPairs {
		return fmt.Errorf("more than %d lines of a head", maxPairs)
	}
	return nil
}

// comment takes those of the whole file, and leaves in the text those of samples.
func (s *scanner) comment(text string) (err error) {
	key, value, _ := strings.Cut(text, ": ")
	switch key {
	case results.PartKey:
		place, err := strconv.Atoi(value)
		if err != nil || place < 1 {
			return fmt.Errorf("part %q: want a number", value)
		}
		s.begin(s.next, place)
		return nil
	case results.ShardKey:
		var index, of int
		if _, err := fmt.Sscanf(value, "%d/%d", &index, &of); err != nil || index < 1 ||
			index > of || of > 1<<20 {
			return fmt.Errorf("shard %q: want i/n", value)
		}
		s.file.index, s.file.of = index, of
		return nil
	case results.EndKey:
		s.close()
		if _, err := fmt.Sscanf(value, "%d results", &s.end); err != nil || s.end < 0 {
			return fmt.Errorf("end %q: want a number of results", value)
		}
		return nil
	case "pages-obtained", results.HistoryKey:
		return nil
	}
	if s.file.results > 0 { // comments on the whole run, behind its samples
		s.close()
	}
	s.file.comments = append(s.file.comments, results.Pair{Key: key, Value: value})
	return s.few(len(s.file.comments))
}

// check refuses a line of results that benchfmt would: a name, a number of
// iterations, and values with units.
func check(line []byte) error {
	fields := 0
	for rest := line; len(rest) > 0; fields++ {
		field, after, _ := bytes.Cut(rest, []byte(" "))
		rest = after
		switch {
		case len(field) == 0:
			return fmt.Errorf("%.60q has two spaces in a row", line)
		case fields == 1 && bytes.ContainsFunc(field, func(r rune) bool {
			return r < '0' || r > '9'
		}), fields > 1 && fields%2 == 0 && !number(field):
			if _, err := strconv.ParseFloat(string(field), 64); err == nil {
				return fmt.Errorf("%s is not a finite number from 0 on", field)
			}
			return fmt.Errorf("%q is not a number", field)
		}
	}
	if fields < 4 || fields%2 != 0 {
		return fmt.Errorf("%.60q is not a line of results", line)
	}
	return nil
}

// number tells whether a field is a number as files have them, or any other that is finite and not
// negative, as results are.
func number(field []byte) bool {
	points := 0
	plain := !slices.ContainsFunc(field, func(c byte) bool {
		if c == '.' {
			points++
		}
		return c != '.' && (c < '0' || c > '9')
	})
	if plain && points < 2 && len(field) > points {
		return true
	}
	v, err := strconv.ParseFloat(string(field), 64)
	return err == nil && v >= 0 && !math.IsInf(v, 0)
}
