package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/results/infile"
	"github.com/stridebench/stridebench/results/outfile"
	"github.com/stridebench/stridebench/results/show"
	"github.com/stridebench/stridebench/simcache/explain"
)

// exitPipe is the exit code if nobody reads stdout, as shells report SIGPIPE.
const exitPipe = 128 + 13

// An output is stdout. It keeps the first write error, which many callers ignore.
type output struct {
	w        io.Writer
	terminal bool
	err      error
}

// Write implements io.Writer.
func (o *output) Write(text []byte) (int, error) {
	if o.terminal {
		progress.Clear()
	}
	n, err := o.w.Write(text)
	o.err = cmp.Or(o.err, err)
	return n, err
}

// Unwrap returns the underlying writer.
func (o *output) Unwrap() io.Writer { return o.w }

// close closes stdout and returns the error of a verb. A write error replaces nil or a failed
// check, whose report may be lost.
func (o *output) close(err error) error {
	if c, ok := o.w.(io.Closer); ok {
		o.err = cmp.Or(o.err, c.Close())
	}
	if o.err != nil && (err == nil || errors.Is(err, errCheck)) {
		return o.err
	}
	return err
}

// unread reports whether nobody reads stdout any more, as after `head`.
func (o *output) unread(err error) bool {
	return errors.Is(o.err, syscall.EPIPE) && errors.Is(err, syscall.EPIPE)
}

func writeJSON(w io.Writer, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

// open opens a file, or stdin for "-".
func (c call) open(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(c.in), nil
	}
	return os.Open(path)
}

// textOf reads results from a file, or from stdin for "-".
func (c call) textOf(path string) ([]byte, error) {
	if path == "-" {
		return infile.TextOf(c.in)
	}
	return infile.Text(path)
}

// createFile creates a flag's file. Without a path it keeps nothing.
func createFile(path string) (*outfile.File, error) {
	return outfile.Create(cmp.Or(path, os.DevNull))
}

// writeOut writes to the file of --out, or to stdout, unless err is set.
func writeOut(stdout io.Writer, path string, text []byte, err error) error {
	if err == nil && path != "" {
		return outfile.WriteFile(path, text)
	}
	if err == nil {
		_, err = stdout.Write(text)
	}
	return err
}

func counted(n int, what string) string { return show.Counted(n, what) }

// columns returns a terminal's width, at least 20, or 0 for other outputs.
func columns(stdout io.Writer) int {
	if !progress.Terminal(stdout) {
		return 0
	}
	return max(progress.Width(stdout), 20)
}

// print prints lines, folded for a terminal.
func (c call) print(text string) error { return explain.WriteTables(c.out, text, columns(c.out)) }

func (c call) tables(write func(io.Writer) error) error {
	var text strings.Builder
	if err := write(&text); err != nil {
		return err
	}
	return c.print(text.String())
}

// mute ignores errors: an error of stdout must not end a run that also writes a file.
type mute struct{ w io.Writer }

// Write implements io.Writer.
func (m mute) Write(text []byte) (int, error) {
	_, _ = m.w.Write(text)
	return len(text), nil
}
