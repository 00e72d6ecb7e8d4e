// Package history is the program's own and promises nothing. It keeps results in a folder of files
// in the Go benchmark format, one for each run, and finds when something changed.
//
// An entry is a file TIME-COMMIT-FINGERPRINT-HASH.txt. Three comment lines hold the format's
// version, the commit and the time. The results follow as they were added. The last line is a
// comment with the SHA-256 of all lines before it. So benchstat can read every entry, and an entry
// shows whether it is complete.
//
// Entries are written whole or not at all and never change. Their names depend on their content, so
// any number of writers can work without a lock. No name or path that a file contains is ever
// opened.
//
// From runs to changes, as the example shows:
//
//  1. [Open] a folder, and [Store.Add] the results of a commit.
//  2. [Store.Entries] returns all entries, by time.
//  3. [AllSeries] arranges them into series, each of one benchmark in one unit,
//     and [Series.Changes] finds when a series changed.
package history

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/export"
	"github.com/stridebench/stridebench/results/infile"
	"github.com/stridebench/stridebench/results/keys"
	"github.com/stridebench/stridebench/results/outfile"
)

// A Store is a folder of entries.
type Store struct{ dir string }

// Open returns the store in a folder, which Add makes if missing.
func Open(dir string) *Store { return &Store{dir} }

// An Entry is one run.
type Entry struct {
	File   string    `json:"file"` // in the store's folder
	Commit string    `json:"commit"`
	Time   time.Time `json:"time"`
	// of the machine, see results.Fingerprint.Hash
	Fingerprint string              `json:"fingerprint"`
	Machine     results.Fingerprint `json:"machine"`
	Geometry    results.Fingerprint `json:"geometry"`         // simulated
	Labels      results.Fingerprint `json:"labels,omitempty"` // such as host, see keys.IsLabel
	Records     []export.Record     `json:"records,omitempty"`
	// what whoever adds it should know; only Add sets it
	Doubts []string `json:"-"`
}

// A Damaged is an entry that has changed since Add.
type Damaged struct {
	File string
	Err  error
}

// Error names the file.
func (d Damaged) Error() string {
	why := d.Err
	if file, ok := errors.AsType[*fs.PathError](why); ok {
		why = file.Err // its path is the entry's
	}
	return fmt.Sprintf("damaged entry %s is skipped: %v", d.File, why)
}

const (
	version   = "# history: 1\n"
	commitKey = "# history-commit: "
	timeKey   = "# history-time: "
	sumKey    = "# " + keys.History + ": "
)

// commits matches commits that may become part of a file's name.
var commits = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._-]{0,63}(\+dirty)?$`)
})

// Add stores a file of results durably; errors mention name. An empty commit or time comes from the
// comments "# commit: " and "# date: ". Windows line ends are replaced, so that equal results make
// one entry. Add returns whether the entry is new, and rewrites a damaged one.
func (s *Store) Add(name string, text []byte, commit string, at time.Time) (entry Entry, added bool,
	err error) {
	set, err := results.Parse(name, text)
	if err != nil {
		return entry, false, err
	}
	if commit, at, err = origin(set.Comments[name], commit, at); err != nil {
		return entry, false, err
	}
	text = plainEnds(text)
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s%s%s\n%s%s\n%s", version, commitKey, commit, timeKey,
		at.UTC().Format(time.RFC3339), text)
	if !bytes.HasSuffix(text, []byte("\n")) {
		b.WriteByte('\n')
	}
	sealed := seal(b.Bytes())
	if entry, err = parseEntry(name, sealed); err != nil {
		return entry, false, err
	}
	entry.Doubts = doubts(name, set, commit, at)
	entry.File = fmt.Sprintf("%s-%.12s-%s-%.12s.txt", entry.Time.Format("20060102T150405Z"), commit,
		entry.Fingerprint, hashOf(sealed))
	path := filepath.Join(s.dir, entry.File)
	// Whoever made the folder must not redirect a write with a link.
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return entry, false, &fs.PathError{Op: "create", Path: path, Err: errNotRegular}
	}
	if there, err := infile.Text(path); err == nil && bytes.Equal(asSealed(there), sealed) {
		return entry, false, nil
	}
	if err := outfile.WriteFile(path, sealed); err != nil {
		return entry, false, err
	}
	s.sweep()
	return entry, true, syncFolder(s.dir)
}

var errNotRegular = errors.New("it is not a regular file")

var halfWritten = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\..+\.txt\.[0-9]+$`)
})

// sweep removes files left half-written over an hour ago.
func (s *Store) sweep() {
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, f := range files {
		if !f.Type().IsRegular() || !halfWritten().MatchString(f.Name()) {
			continue
		}
		if info, err := f.Info(); err == nil && time.Since(info.ModTime()) > time.Hour {
			os.Remove(filepath.Join(s.dir, f.Name()))
		}
	}
}

// An OriginError reports an unknown or invalid commit or time.
type OriginError struct {
	Key string // "commit" or "date", with which the error begins, "" if unknown
	error
}

func origin(comments []results.Pair, commit string, at time.Time) (string, time.Time, error) {
	for _, c := range comments {
		switch {
		case c.Key == "commit" && commit == "":
			commit = c.Value
		case c.Key == "date" && at.IsZero():
			var err error
			if at, err = time.Parse(time.RFC3339, c.Value); err != nil {
				return "", at, OriginError{"date",
					fmt.Errorf("date %q: want one such as 2026-11-21T07:14:35Z", c.Value)}
			}
		}
	}
	switch {
	case commit == "":
		return "", at, OriginError{"", errors.New("the results name no commit")}
	case strings.HasSuffix(strings.TrimSuffix(commit, "+dirty"), "HEAD"):
		return "", at, OriginError{"commit", fmt.Errorf(
			"commit %q: it is another commit after the next one: want its hash, as git rev-parse "+
				"HEAD prints it", commit)}
	case !commits().MatchString(commit):
		return "", at, OriginError{"commit", fmt.Errorf(
			"commit %q: want letters, digits, '.', '_' and '-', at most 64, and '+dirty' after them", commit)}
	case at.IsZero():
		return "", at, OriginError{"", errors.New("the results name no date")}
	case at.Year() < 1970 || at.Year() > 9999:
		return "", at, OriginError{"date", fmt.Errorf("date %v: want a year from 1970 to 9999", at)}
	}
	return commit, at, nil
}

func doubts(name string, set *results.Set, commit string, at time.Time) (all []string) {
	if time.Until(at) > time.Minute {
		all = append(all, fmt.Sprintf("its time, %s, is yet to come: what comes before it is "+
			"taken for older (--date sets it)", at.UTC().Format(time.RFC3339)))
	}
	if strings.HasSuffix(commit, "+dirty") {
		all = append(all, fmt.Sprintf("commit %s: it was measured with changes that are not in "+
			"the commit", ShortCommit(commit)))
	} else if !strings.ContainsAny(commit, "0123456789") {
		all = append(all, fmt.Sprintf("commit %q is not a hash and is kept unchanged: a name "+
			"that moves, such as a branch's, makes one commit of many (want --commit \"$(git "+
			"rev-parse %s)\")", commit, commit))
	}
	const lacks = ": benchmarks it lacks may be reported as vanished"
	if err := set.Complete(); err != nil {
		all = append(all, "it"+strings.TrimPrefix(err.Error(), name)+lacks)
	} else if shard := set.Comment(keys.Shard); shard != "" {
		all = append(all, fmt.Sprintf("it is shard %s of a suite%s (bench merge makes one file "+
			"of all)",
			shard, lacks))
	}
	return all
}

// syncFolder makes a rename in a folder durable.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func seal(text []byte) []byte {
	sum := sha256.Sum256(text)
	return fmt.Appendf(bytes.Clone(text), "%s%s\n", sumKey, hex.EncodeToString(sum[:]))
}

var errNotWhole = errors.New("it is not complete: its last line is not the SHA-256 of the " +
	"lines above")

// unseal removes that line, or returns errNotWhole.
func unseal(sealed []byte) ([]byte, error) {
	const length = len(sumKey) + 2*sha256.Size + 1
	if len(sealed) < length {
		return nil, errNotWhole
	}
	text := sealed[:len(sealed)-length]
	if !bytes.Equal(seal(text), sealed) {
		return nil, errNotWhole
	}
	return text, nil
}

func plainEnds(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }

// asSealed undoes git's line ends on Windows.
func asSealed(sealed []byte) []byte {
	if _, err := unseal(sealed); err == nil {
		return sealed
	}
	return plainEnds(sealed)
}

// content returns an entry's commit, time and results, which may have gained a last newline.
func content(sealed []byte) (commit string, at time.Time, text []byte, err error) {
	text, err = unseal(sealed)
	if err != nil {
		return "", at, nil, err
	}
	lines := bytes.SplitAfterN(text, []byte("\n"), 4)
	if len(lines) < 4 || string(lines[0]) != version {
		return "", at, nil, errors.New("it is not an entry of a history of this version")
	}
	commit, ok := strings.CutPrefix(strings.TrimSpace(string(lines[1])),
		strings.TrimSpace(commitKey)+" ")
	when, dated := strings.CutPrefix(strings.TrimSpace(string(lines[2])),
		strings.TrimSpace(timeKey)+" ")
	at, err = time.Parse(time.RFC3339, when)
	if !ok || !dated || err != nil || !commits().MatchString(commit) {
		return "", at, nil, errors.New("it names no commit or no time")
	}
	return commit, at.UTC(), lines[3], nil
}

func parseEntry(name string, sealed []byte) (e Entry, err error) {
	commit, at, text, err := content(sealed)
	if err != nil {
		return e, err
	}
	set, err := results.Parse(name, text)
	if err != nil {
		return e, err
	}
	config, err := set.Config()
	if err != nil {
		return e, fmt.Errorf("%s: %w", name, err)
	}
	f := results.FingerprintOf(config)
	e = Entry{Commit: commit, Time: at, Fingerprint: f.Hash(), Machine: f,
		Geometry: results.GeometryOf(config), Labels: results.LabelsOf(config)}
	e.Records, err = export.Records(set)
	return e, err
}

// Entries returns the entries by time, and the damaged ones that it skips. A missing folder has
// none.
func (s *Store) Entries() (entries []Entry, damaged []Damaged, err error) {
	files, err := os.ReadDir(s.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	files = slices.DeleteFunc(files, func(f os.DirEntry) bool { // temporary ones, too
		return filepath.Ext(f.Name()) != ".txt" || strings.HasPrefix(f.Name(), ".")
	})
	read, hashes, faults := make([]Entry, len(files)), make([]string, len(files)),
		make([]error, len(files))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, f := range files {
		group.Go(func() error {
			hashes[i], read[i], faults[i] = s.entry(f)
			return nil
		})
	}
	err = group.Wait()
	found := map[string]string{} // names by hash
	for i, f := range files {
		fault := faults[i]
		if other, is := found[hashes[i]]; fault == nil && is { // its samples would count twice
			fault = fmt.Errorf("it is a copy of %s", other)
		}
		if fault != nil {
			damaged = append(damaged, Damaged{f.Name(), fault})
			continue
		}
		found[hashes[i]] = f.Name()
		entries = append(entries, read[i])
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(a.Time.Compare(b.Time), strings.Compare(a.File, b.File))
	})
	return entries, damaged, err
}

func (s *Store) entry(f os.DirEntry) (hash string, e Entry, err error) {
	if !f.Type().IsRegular() {
		return "", e, errNotRegular
	}
	sealed, err := infile.Text(filepath.Join(s.dir, f.Name()))
	if err != nil {
		return "", e, err
	}
	sealed = asSealed(sealed)
	e, err = parseEntry("the file", sealed) // Damaged adds the file's own name
	e.File = f.Name()
	return hashOf(sealed), e, err
}

func hashOf(sealed []byte) string {
	sum := sha256.Sum256(sealed)
	return hex.EncodeToString(sum[:])
}

func (s *Store) text(e Entry) ([]byte, error) {
	sealed, err := infile.Text(filepath.Join(s.dir, filepath.Base(e.File)))
	if err != nil {
		return nil, err
	}
	_, _, text, err := content(asSealed(sealed))
	if err != nil {
		return nil, Damaged{e.File, err}
	}
	return text, nil
}
