// Package mtx is the program's own and promises nothing. It reads sparse matrices from Matrix
// Market files, the format of collections such as SuiteSparse (R. Boisvert, R. Pozo, K. Remington,
// "The Matrix Market Exchange Formats", NISTIR 5935).
package mtx

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A CSR is a matrix in compressed sparse rows.
type CSR struct {
	Rows, Columns int
	Starts        []int   // row i is the entries from Starts[i] up to Starts[i+1]
	Column        []int32 // of each entry, from 0; ascending and unique in a row
	Pattern       bool    // entries have no values
}

// Limits: rows and columns fit an int32. A matrix with almost only empty rows is refused, because a
// small file could claim any number of them.
const (
	maxSize      = math.MaxInt32
	maxLine      = 64 << 10 // bytes
	maxEmptyRows = 1 << 24  // plus 64 for each entry
)

// Read reads a coordinate file: real, integer or pattern; general, symmetric or skew-symmetric. It
// adds a symmetric matrix's other half. Entries may come in any order; those at one place are one.
// Values are not read, because accesses do not depend on them. Read reads the file once and takes
// some 20 B an entry besides the result. Errors begin with "FILE:LINE: ".
func Read(r io.Reader, name string) (CSR, error) {
	s := &scanner{lines: bufio.NewScanner(r), name: name}
	s.lines.Buffer(nil, maxLine)
	h, err := s.header()
	if err != nil {
		return CSR{}, err
	}
	if err := s.size(&h); err != nil {
		return CSR{}, err
	}
	e, err := s.entries(h)
	if err != nil {
		return CSR{}, err
	}
	return compress(e, h), nil
}

type header struct {
	pattern, mirrored      bool
	rows, columns, entries int
}

type scanner struct {
	lines *bufio.Scanner
	name  string
	line  int // from 1, also after the last line
}

func (s *scanner) fail(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", s.name, s.line, fmt.Errorf(format, args...))
}

// next returns the next line without its end, valid until the next call, or io.EOF.
func (s *scanner) next() ([]byte, error) {
	s.line++
	if s.lines.Scan() {
		return s.lines.Bytes(), nil
	}
	switch err := s.lines.Err(); err {
	case nil:
		return nil, io.EOF
	case bufio.ErrTooLong:
		return nil, s.fail("the line is longer than %d B", maxLine)
	default:
		return nil, s.fail("%v", err)
	}
}

func (s *scanner) content() ([]byte, error) {
	for {
		text, err := s.next()
		if err != nil {
			return nil, err
		}
		if text = bytes.TrimSpace(text); len(text) > 0 && text[0] != '%' {
			return text, nil
		}
	}
}

const want = "want %%MatrixMarket matrix coordinate, then real, integer or pattern, then " +
	"general, symmetric or skew-symmetric"

func (s *scanner) header() (header, error) {
	text, err := s.next()
	if err == io.EOF {
		return header{}, s.fail("the file is empty; %s", want)
	}
	if err != nil {
		return header{}, err
	}
	if bytes.HasPrefix(text, []byte{0x1F, 0x8B}) {
		return header{}, s.fail("it is packed by gzip: unpack it first (gunzip)")
	}
	if bytes.HasPrefix(text, []byte{0xFF, 0xFE}) || bytes.HasPrefix(text, []byte{0xFE, 0xFF}) {
		return header{}, s.fail("it is UTF-16, as > of PowerShell writes it: want UTF-8 (| " +
			"Out-File -Encoding utf8)")
	}
	const mark = "\xEF\xBB\xBF" // byte order mark, which some editors write
	words := strings.Fields(strings.ToLower(strings.TrimPrefix(string(text), mark)))
	if len(words) != 5 || words[0] != "%%matrixmarket" || words[1] != "matrix" {
		return header{}, s.fail("no header of a Matrix Market file; %s", want)
	}
	form, field, symmetry := words[2], words[3], words[4]
	h := header{pattern: field == "pattern", mirrored: symmetry != "general"}
	switch {
	case form != "coordinate":
		return header{}, s.fail("the format is %q; %s", form, want)
	case !slices.Contains([]string{"real", "integer", "pattern"}, field):
		return header{}, s.fail("entries are %q; %s", field, want)
	case !slices.Contains([]string{"general", "symmetric", "skew-symmetric"}, symmetry):
		return header{}, s.fail("the matrix is %q; %s", symmetry, want)
	case h.pattern && symmetry == "skew-symmetric":
		return header{}, s.fail("a pattern is not skew-symmetric: its entries have no sign")
	}
	return h, nil
}

func (s *scanner) size(h *header) error {
	text, err := s.content()
	if err == io.EOF {
		return s.fail("the file ends before its sizes (want ROWS COLUMNS ENTRIES)")
	}
	if err != nil {
		return err
	}
	fields := bytes.Fields(text)
	if len(fields) != 3 {
		return s.fail("%d numbers, want ROWS COLUMNS ENTRIES", len(fields))
	}
	for i, into := range []*int{&h.rows, &h.columns, &h.entries} {
		n, err := strconv.Atoi(string(fields[i]))
		what := []string{"rows", "columns", "entries"}[i]
		switch {
		case errors.Is(err, strconv.ErrRange) && n > 0 || i < 2 && n > maxSize:
			return s.fail("%s %s are more than %d", fields[i], what, maxSize)
		case err != nil || n < 0:
			return s.fail("%q is not a number of %s", fields[i], what)
		}
		*into = n
	}
	switch {
	case h.mirrored && h.rows != h.columns:
		return s.fail("a symmetric matrix of %d rows and %d columns is none", h.rows, h.columns)
	case h.entries > 0 && (h.rows == 0 || h.columns == 0):
		return s.fail("%d entries of a matrix of %d rows and %d columns", h.entries,
			h.rows, h.columns)
	case h.rows > maxEmptyRows && h.rows-maxEmptyRows > 64*min(h.entries, maxSize):
		return s.fail("%d rows for %d entries: rows are almost all empty", h.rows, h.entries)
	}
	return nil
}

// entries returns the entries as rows<<32 + columns.
func (s *scanner) entries(h header) (all []uint64, err error) {
	for read := 0; ; read++ {
		text, err := s.content()
		if err == io.EOF && read == h.entries {
			return all, nil
		}
		if err == io.EOF {
			return nil, s.fail("the file ends after %d entries, and its sizes say %d",
				read, h.entries)
		}
		if err != nil {
			return nil, err
		}
		if read == h.entries {
			return nil, s.fail("there are more entries than the %d that the sizes say", h.entries)
		}
		row, column, err := s.entry(text, h)
		if err != nil {
			return nil, err
		}
		all = append(all, row<<32+column)
		if h.mirrored && row != column {
			all = append(all, column<<32+row)
		}
	}
}

func (s *scanner) entry(text []byte, h header) (row, column uint64, err error) {
	i, rest := word(text)
	j, rest := word(rest)
	v, rest := word(rest)
	switch {
	case h.pattern && (len(j) == 0 || len(v) > 0):
		return 0, 0, s.fail("%q is not an entry of a pattern (want ROW COLUMN)", text)
	case !h.pattern && (len(v) == 0 || len(rest) > 0):
		return 0, 0, s.fail("%q is not an entry (want ROW COLUMN VALUE)", text)
	}
	if row, err = s.index(i, "row", h.rows); err != nil {
		return 0, 0, err
	}
	column, err = s.index(j, "column", h.columns)
	return row, column, err
}

// word returns the first word of a text, and the rest without leading space.
func word(text []byte) (first, rest []byte) {
	end := bytes.IndexAny(text, " \t")
	if end < 0 {
		return text, nil
	}
	return text[:end], bytes.TrimLeft(text[end:], " \t")
}

func (s *scanner) index(text []byte, what string, size int) (uint64, error) {
	n := 0
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, s.fail("%q is not a valid %s", text, what)
		}
		if n = n*10 + int(c-'0'); n > size {
			break
		}
	}
	if n < 1 || n > size {
		return 0, s.fail("%s %s is not within 1 to %d", what, text, size)
	}
	return uint64(n - 1), nil
}

// compress sorts entries by row, then by column, and makes those at one place one.
func compress(entries []uint64, h header) CSR {
	slices.Sort(entries)
	entries = slices.Compact(entries)
	m := CSR{Rows: h.rows, Columns: h.columns, Starts: make([]int, 0, h.rows+1),
		Column: make([]int32, 0, len(entries)), Pattern: h.pattern}
	for _, e := range entries {
		for len(m.Starts) <= int(e>>32) {
			m.Starts = append(m.Starts, len(m.Column))
		}
		m.Column = append(m.Column, int32(e))
	}
	for len(m.Starts) <= h.rows {
		m.Starts = append(m.Starts, len(m.Column))
	}
	return m
}
