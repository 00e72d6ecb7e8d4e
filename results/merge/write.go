package merge

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/keys"
)

type writer struct {
	out              *bufio.Writer
	config, comments map[string]string
	family           string
	begun            map[*file]bool
	in               io.ReadSeeker // open
	source           *file         // the file that in reads
}

// left are comments that mean nothing once merged.
var left = []string{"load", "overhead", keys.Activity, keys.Node, "warning",
	"interrupted"}

func (w *writer) lead(r run, first bool, runs int, faults []string) {
	f := r.files[0]
	w.setConfig(f)
	for _, c := range f.comments {
		if !slices.Contains(left, c.Key) {
			w.comment(c)
		}
	}
	if len(r.files) > 1 {
		w.comment(results.Pair{Key: "merged",
			Value: fmt.Sprintf("%d of %d shards", len(r.files), f.of)})
	}
	if !first {
		return
	}
	if runs > 1 { // marks the file as one that may be rewritten
		w.comment(results.Pair{Key: "merged", Value: fmt.Sprintf("%d runs", runs)})
	}
	for _, fault := range faults {
		fmt.Fprintf(w.out, "# %s: %s\n", keys.Partial, fault)
	}
	for _, unit := range f.units {
		fmt.Fprintln(w.out, unit)
	}
	fmt.Fprintln(w.out)
}

// setConfig writes the lines that differ from the configuration in force. An empty value removes a
// key.
func (w *writer) setConfig(f *file) {
	for _, key := range slices.Sorted(maps.Keys(w.config)) {
		if value(f.config, key) == "" {
			fmt.Fprintf(w.out, "%s:\n", key)
			delete(w.config, key)
		}
	}
	for _, p := range f.config {
		if w.config[p.Key] != p.Value {
			fmt.Fprintf(w.out, "%s: %s\n", p.Key, p.Value)
			w.config[p.Key] = p.Value
		}
	}
}

func (w *writer) comment(c results.Pair) {
	if w.comments[c.Key] != c.Value {
		fmt.Fprintf(w.out, "# %s: %s\n", c.Key, c.Value)
		w.comments[c.Key] = c.Value
	}
}

func (w *writer) span(s span) error {
	w.setConfig(s.file)
	if !w.begun[s.file] {
		w.begun[s.file] = true
		for _, c := range s.file.comments {
			if slices.Contains(left[2:], c.Key) {
				w.comment(c)
			}
		}
	}
	if s.family != w.family && !s.own && s.family != "" {
		fmt.Fprintf(w.out, "%s: %s\n", keys.Family, s.family)
	}
	w.family = s.last
	return w.copy(s)
}

func (w *writer) close() {
	if open, is := w.in.(io.Closer); is {
		open.Close()
	}
}

func (w *writer) copy(s span) (err error) {
	if w.source != s.file {
		w.close()
		if s.file.text != nil {
			w.in = bytes.NewReader(s.file.text.Bytes())
		} else if w.in, err = os.Open(s.file.path); err != nil {
			return err
		}
		w.source = s.file
	}
	if _, err := w.in.Seek(s.from, io.SeekStart); err != nil {
		return fmt.Errorf("%s: it is scanned and then copied, which takes a file, or - for "+
			"stdin, not another pipe: %w", s.file.path, err)
	}
	_, err = io.CopyN(w.out, w.in, s.to-s.from)
	if err == io.EOF {
		err = fmt.Errorf("%s: it has become shorter since it was scanned", s.file.path)
	}
	return err
}
