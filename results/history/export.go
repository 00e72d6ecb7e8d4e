package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/export"
	"github.com/stridebench/stridebench/results/keys"
)

func (e Entry) benchmarks() int {
	names := map[string]bool{}
	for _, r := range e.Records {
		names[r.Name] = true
	}
	return len(names)
}

// OfCommit returns the entries of a commit or its unambiguous prefix; all for "".
func OfCommit(entries []Entry, commit string) ([]Entry, error) {
	var found []Entry
	for _, e := range entries {
		if strings.HasPrefix(e.Commit, commit) {
			found = append(found, e)
		}
	}
	switch {
	case len(found) == 0:
		return nil, errors.New("no entry is of that commit")
	case commit != "" && slices.Contains(commitsOf(found), commit):
		return slices.DeleteFunc(found, func(e Entry) bool { return e.Commit != commit }), nil
	case commit != "" && len(commitsOf(found)) > 1:
		return nil, fmt.Errorf("it may be any of %s", strings.Join(commitsOf(found), ", "))
	}
	return found, nil
}

func commitsOf(entries []Entry) []string {
	commits := map[string]bool{}
	for _, e := range entries {
		commits[e.Commit] = true
	}
	return slices.Sorted(maps.Keys(commits))
}

// Records returns the entries' records, with commit, date and fingerprint.
func Records(entries []Entry) []export.Record {
	var all []export.Record
	for _, e := range entries {
		for _, r := range e.Records {
			r.Commit, r.Date, r.Fingerprint = e.Commit, e.Time.Format(time.RFC3339), e.Fingerprint
			all = append(all, r)
		}
	}
	return all
}

// WriteText writes the entries as they were added. With several commits, each gets its commit as
// configuration.
func (s *Store) WriteText(w io.Writer, entries []Entry) error {
	several := len(commitsOf(entries)) > 1
	var before map[string]string // configuration at the end of the entry before
	for _, e := range entries {
		text, err := s.text(e)
		if err != nil {
			return err
		}
		var head bytes.Buffer
		for _, key := range slices.Sorted(maps.Keys(before)) {
			fmt.Fprintf(&head, "%s:\n", key) // an empty value ends it
		}
		if several {
			fmt.Fprintf(&head, "commit: %s\n", e.Commit)
		}
		set, err := results.Parse(e.File, text)
		if err != nil {
			return err
		}
		if before, err = set.Config(); err != nil {
			return err
		}
		if len(entries) > 1 {
			before[keys.Family] = ""
		}
		if _, err := w.Write(append(head.Bytes(), text...)); err != nil {
			return err
		}
	}
	return nil
}
