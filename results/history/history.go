// Package history keeps results in a folder of files in the Go benchmark format,
// one for each run, and finds when something changed.
//
// An entry is a file TIME-COMMIT-FINGERPRINT-HASH.txt. It has three comment lines
// with the format's version, the commit and the time, then the results as they
// were added, then a comment line with the SHA-256 of all lines before it. So
// benchstat can read every entry, and every entry contains all there is to know
// about it and shows whether it is complete.
//
// Entries are written completely or not at all and never change, and their names
// depend on their content, so any number of writers can work without a lock. The
// index is a cache of what the entries hold, found by their hash. If it is
// missing, damaged or outdated, the entries are read instead and the index is
// written again. No name or path that a file contains is ever opened.
//
// From runs to changes, as the example shows:
//
//  1. [Open] a folder, and [Store.Add] the results of a commit.
//  2. [Store.Entries] are all entries that were added, by time.
//  3. [AllSeries] arranges them into series, each of one benchmark in one unit,
//     and [Series.Changes] finds when a series changed.
package history

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/export"
)

// A Store is a folder.
type Store struct{ dir string }

// Open takes a folder as a store; Add makes it if it is missing.
func Open(dir string) *Store { return &Store{dir} }

// An Entry is one run.
type Entry struct {
	File   string    `json:"file"` // its name in the store's folder
	Commit string    `json:"commit"`
	Time   time.Time `json:"time"`
	// of the machine, see results.Fingerprint.Hash
	Fingerprint string              `json:"fingerprint"`
	Machine     results.Fingerprint `json:"machine"`
	Geometry    results.Fingerprint `json:"geometry"`         // that was simulated
	Labels      results.Fingerprint `json:"labels,omitempty"` // such as host, see results.IsLabel
	Records     []export.Record     `json:"records,omitempty"`
	// what whoever adds it should know of it; only Add says
	Doubts []string `json:"-"`
}

// A Damaged entry is a file that is not what was added.
type Damaged struct {
	File string
	Err  error
}

// Error names the file.
func (d Damaged) Error() string {
	why := d.Err
	if file, ok := errors.AsType[*fs.PathError](why); ok {
		why = file.Err // of the entry
	}
	return fmt.Sprintf("damaged entry %s is skipped: %v", d.File, why)
}

const (
	version   = "# history: 1\n"
	commitKey = "# history-commit: "
	timeKey   = "# history-time: "
	sumKey    = "# " + results.HistoryKey + ": "
	indexFile = "index.jsonl"
	// of the records of this version; an index without it is made anew
	indexHead = "{\"index\":4}\n"
	maxIndex  = 1 << 30 // bytes; reading the entries is better than more
)

// commits are what may stand for a commit: it becomes part of a file's name.
var commits = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._-]{0,63}(\+dirty)?$`)
})

// Add puts the results of a file of a name, which errors have, into the store, for good before it
// returns. Where commit is "" or at is zero, the comments "# commit: " and "# date: " of the
// results say them. Line ends of Windows become others: the same results are one entry. It tells
// whether the same entry was not there before. An entry that is there but damaged is written anew.
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
	sum := sha256.Sum256(sealed)
	entry.Doubts = doubts(name, set, commit, at)
	entry.File = fmt.Sprintf("%s-%.12s-%s-%.12s.txt", entry.Time.Format("20060102T150405Z"), commit,
		entry.Fingerprint, hex.EncodeToString(sum[:]))
	path := filepath.Join(s.dir, entry.File)
	if err := ownFile(path); err != nil {
		return entry, false, err
	}
	if there, err := results.ReadText(path); err == nil && bytes.Equal(asSealed(there), sealed) {
		return entry, false, nil
	}
	if err := results.WriteFile(path, sealed); err != nil {
		return entry, false, err
	}
	s.sweep()
	return entry, true, syncFolder(s.dir)
}

// ownFile refuses a name in the store at which there is neither a regular file nor
// nothing: whoever made the folder does not say with a link what is written
// elsewhere.
func ownFile(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "create", Path: path, Err: errNotRegular}
	}
	return nil
}

var errForeignIndex = errors.New("it is the index of something else")

var errNotRegular = errors.New("it is not a regular file")

// halfWritten are the names that results.Create gives to what is on its way.
var halfWritten = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\.(.+\.txt|index\.jsonl)\.[0-9]+$`)
})

// sweep removes what writers that were killed left half-written an hour ago.
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

// An OriginError tells that the commit or the time of results is not known, or
// is none that an entry may have.
type OriginError struct {
	Key string // "commit" or "date", with which the error begins, "" where there is none
	error
}

// origin is the commit and the time of results with these comments.
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

// doubts are why results of a name may not be what the commit they are filed under has; whoever
// tells of them says the name.
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
	if after := set.Comment("interrupted"); after != "" {
		all = append(all, fmt.Sprintf("the run was interrupted %s: benchmarks it lacks may be "+
			"reported as vanished", after))
	} else if err := set.Complete(); err != nil {
		all = append(all, fmt.Sprintf("it%s: benchmarks it lacks may be reported as vanished",
			strings.TrimPrefix(err.Error(), name)))
	}
	if shard := set.Comment(results.ShardKey); shard != "" {
		all = append(all, fmt.Sprintf("it is shard %s of a suite: benchmarks it lacks may be "+
			"reported as vanished (bench merge makes one file of all)", shard))
	}
	return all
}

// syncFolder makes a rename in a folder last.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// seal adds the line that tells whether a text is whole.
func seal(text []byte) []byte {
	sum := sha256.Sum256(text)
	return fmt.Appendf(bytes.Clone(text), "%s%s\n", sumKey, hex.EncodeToString(sum[:]))
}

var errNotWhole = errors.New("it is not complete: its last line is not the SHA-256 of the " +
	"lines above")

// unseal takes that line off, or says that the text is not whole.
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

// plainEnds is a text without line ends of Windows.
func plainEnds(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }

// asSealed is a sealed text as it was sealed: git on Windows checks it out with other line ends.
func asSealed(sealed []byte) []byte {
	if _, err := unseal(sealed); err == nil {
		return sealed
	}
	return plainEnds(sealed)
}

// content takes an entry apart: commit, time, and the results as they were
// added, but for a last newline.
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

// parseEntry reads an entry, but for its file name; errors of its results have the name given.
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

// Entries reads the store, by time. Damaged entries are named and left out. A
// folder that is missing has no entries.
func (s *Store) Entries() (entries []Entry, damaged []Damaged, err error) {
	files, err := os.ReadDir(s.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	known, found, news := s.readIndex(), map[string]Entry{}, false
	for _, f := range files {
		// the index, and files on their way
		if filepath.Ext(f.Name()) != ".txt" || strings.HasPrefix(f.Name(), ".") {
			continue
		}
		hash, entry, err := s.entry(f, known)
		if err != nil {
			damaged = append(damaged, Damaged{f.Name(), err})
			continue
		}
		if other, is := found[hash]; is { // or its samples would count as twice as many
			damaged = append(damaged, Damaged{f.Name(),
				fmt.Errorf("it is a copy of %s", other.File)})
			continue
		}
		_, old := known[hash]
		found[hash], news = entry, news || !old
		entries = append(entries, entry)
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(a.Time.Compare(b.Time), strings.Compare(a.File, b.File))
	})
	if news || len(found) < len(known) {
		// An index that cannot be written is only slow.
		_ = s.writeIndex(found)
	}
	return entries, damaged, nil
}

// entry reads one entry, or takes it from the index if its content is there.
func (s *Store) entry(f os.DirEntry, known map[string]Entry) (hash string, e Entry, err error) {
	if !f.Type().IsRegular() {
		return "", e, errNotRegular
	}
	sealed, err := results.ReadText(filepath.Join(s.dir, f.Name()))
	if err != nil {
		return "", e, err
	}
	if hash = hashOf(sealed); known[hash].File == "" {
		sealed = asSealed(sealed)
		hash = hashOf(sealed)
	}
	if e, ok := known[hash]; ok {
		e.File = f.Name()
		return hash, e, nil
	}
	e, err = parseEntry("the file", sealed) // whose own name the error comes with
	e.File = f.Name()
	return hash, e, err
}

// hashOf is by what the index knows an entry.
func hashOf(sealed []byte) string {
	sum := sha256.Sum256(sealed)
	return hex.EncodeToString(sum[:])
}

// text is the results of an entry, as they were added.
func (s *Store) text(e Entry) ([]byte, error) {
	sealed, err := results.ReadText(filepath.Join(s.dir, filepath.Base(e.File)))
	if err != nil {
		return nil, err
	}
	_, _, text, err := content(asSealed(sealed))
	if err != nil {
		return nil, Damaged{e.File, err}
	}
	return text, nil
}

// An indexed entry is a line of the index.
type indexed struct {
	Hash  string `json:"sha256"` // of the whole file
	Entry Entry  `json:"entry"`
}

// readIndex reads the index by hash. One that is damaged is as good as none.
func (s *Store) readIndex() map[string]Entry {
	path := filepath.Join(s.dir, indexFile)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() ||
		info.Size() > maxIndex {
		return nil
	}
	sealed, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return parseIndex(sealed)
}

func parseIndex(sealed []byte) map[string]Entry {
	text, err := unseal(sealed)
	if err != nil {
		return nil
	}
	text, ok := bytes.CutPrefix(text, []byte(indexHead))
	if !ok {
		return nil
	}
	known := map[string]Entry{}
	for line := range bytes.Lines(text) {
		var i indexed
		if json.Unmarshal(line, &i) != nil {
			return nil
		}
		known[i.Hash] = i.Entry
	}
	return known
}

func (s *Store) writeIndex(entries map[string]Entry) error {
	path := filepath.Join(s.dir, indexFile)
	if err := ownFile(path); err != nil {
		return err
	}
	if results.Foreign(path, func(text []byte) bool {
		return bytes.HasPrefix(text, []byte(`{"index":`)) || bytes.Contains(text, []byte(sumKey))
	}) {
		return errForeignIndex
	}
	var b bytes.Buffer
	b.WriteString(indexHead)
	e := json.NewEncoder(&b)
	for hash, entry := range entries {
		if err := e.Encode(indexed{hash, entry}); err != nil {
			return err
		}
	}
	return results.WriteFile(path, seal(b.Bytes()))
}
