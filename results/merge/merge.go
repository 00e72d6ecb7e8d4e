// Package merge is the program's own and promises nothing. It combines the files of many runs.
// Shards become one run; runs on many machines follow one another.
//
// A first pass keeps only the heads and the positions of parts, so memory grows with the number of
// files, not of samples. A second pass copies the parts in the order of the suite.
//
//  1. [Find] lists the files.
//  2. [Read] scans them. Files that cannot be merged are an error; missing, doubled or
//     cut-off ones are in [Plan.Faults].
//  3. [Plan.Write] writes the file.
package merge

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/stridebench/stridebench/results/infile"
	"github.com/stridebench/stridebench/results/keys"
	"github.com/stridebench/stridebench/results/outfile"
)

// Find replaces folders among paths by the files ending in .txt in them and below. Links to files
// count as files, and a path itself may be a link to a folder. Other files and -, which is stdin,
// stay.
//
// Find leaves out the file out, which is to be written, if it is an earlier merge. Otherwise that
// is an error, since it would be lost.
func Find(paths []string, out string) (found []string, err error) {
	for _, root := range paths {
		if root == "-" {
			found = append(found, root)
			continue
		}
		info, err := os.Stat(root)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			found = append(found, root)
			continue
		}
		before := len(found)
		follow := root + string(filepath.Separator) // else WalkDir would not follow a link
		err = filepath.WalkDir(follow, func(path string, d fs.DirEntry, err error) error {
			hidden := strings.HasPrefix(d.Name(), ".") // temporary files
			if err != nil || hidden || filepath.Ext(path) != ".txt" {
				return err
			}
			if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
				return err
			}
			if out != "" && !outfile.Distinct(path, out) {
				return checkMerged(path)
			}
			found = append(found, path)
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(found) == before {
			return nil, fmt.Errorf("%s: no file there ends in .txt", root)
		}
	}
	return found, nil
}

var mergedLine = regexp.MustCompile(`(?m)^# merged: `)

func checkMerged(path string) error {
	text, err := infile.Text(path)
	if err == nil && !mergedLine.Match(text) {
		err = fmt.Errorf("%s is a file that is read, and would be lost: write to another", path)
	}
	return err
}

// A Plan is what will be written.
type Plan struct {
	// Faults report missing, doubled or cut-off shards. The rest can still be written.
	Faults  []string
	Files   int
	Runs    int
	Results int
	runs    []run
}

type run struct {
	label string // value of the label that distinguishes runs
	files []*file
}

// Read scans files. Those with the same value of the label by are the shards of one run; without a
// label, all are. Read returns an error with both lines if files of a run differ, except in labels,
// or if programs differ. The text of stdin, for -, is kept.
func Read(paths []string, stdin io.Reader, by string, step func()) (*Plan, error) {
	scanned := make([][]*file, len(paths))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, path := range paths {
		group.Go(func() (err error) {
			scanned[i], err = scan(path, stdin)
			if step != nil {
				step()
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	files := slices.Concat(scanned...)
	p := &Plan{Files: len(paths)}
	runs, lost := map[string][]*file{}, map[string][]*file{}
	for _, f := range files {
		if f.fault != nil {
			p.Faults = append(p.Faults, fmt.Sprintf("%v: %v%s", f, f.fault, f.lost()))
		}
		if f.results == 0 {
			of := value(f.config, by)
			lost[of] = append(lost[of], f)
			continue
		}
		label := ""
		if by != "" {
			if label = value(f.config, by); label == "" {
				return nil, fmt.Errorf("%s has no line \"%s:\" (bench run --label %[2]s=VALUE "+
					"writes one)", f, by)
			}
		}
		runs[label] = append(runs[label], f)
	}
	var first *file
	for label, files := range runs {
		p.runs = append(p.runs, run{label, files})
	}
	slices.SortFunc(p.runs, func(a, b run) int { return Natural(a.label, b.label) })
	for i := range p.runs {
		r := &p.runs[i]
		first = cmp.Or(first, r.files[0])
		if err := r.check(first); err != nil {
			return nil, err
		}
		p.Faults = append(p.Faults, r.complete(by, lost[r.label])...)
		for _, f := range r.files {
			p.Results += f.results
		}
	}
	if p.Runs = len(p.runs); p.Runs == 0 {
		why := files[0].foreign()
		if len(paths) == 1 {
			return nil, why
		}
		return nil, fmt.Errorf("none of %d files holds a result: %w", len(paths), why)
	}
	return p, nil
}

func (r run) check(first *file) error {
	lead := r.files[0]
	for _, f := range r.files {
		for _, key := range []string{"version", "commit"} {
			if err := differ(first, f, "# "+key+": ", value(first.comments, key),
				value(f.comments, key)); err != nil {
				return fmt.Errorf("the programs are not the same: %w", err)
			}
		}
		if a, b := strings.Join(first.units, "; "), strings.Join(f.units, "; "); a != b {
			return fmt.Errorf("the programs are not the same: %w", differ(first, f, "", a, b))
		}
		if err := sameSetup(lead, f); err != nil {
			return fmt.Errorf("the shards of a run differ: %w", err)
		}
		// The suite depends on the CPU: its kernels, its caches.
		of := lead
		if value(first.config, "cpu") == value(f.config, "cpu") {
			of = first
		}
		if err := differ(of, f, "# "+keys.Suite+": ", value(of.comments, keys.Suite),
			value(f.comments, keys.Suite)); err != nil {
			return fmt.Errorf("the suites are not the same: %w", err)
		}
		if f.of != lead.of {
			return fmt.Errorf("the shards of a run differ: %w",
				differ(lead, f, "# shard: ", shard(lead), shard(f)))
		}
	}
	return nil
}

func (f *file) lost() string {
	if f.fault == nil || f.results > 0 || f.of == 1 {
		return ""
	}
	return ", and nothing is left of shard " + shard(f)
}

func shard(f *file) string { return fmt.Sprintf("%d/%d", f.index, f.of) }

func sameSetup(a, b *file) error {
	for _, p := range slices.Concat(a.config, b.config) {
		if keys.IsLabel(p.Key) {
			continue
		}
		if err := differ(a, b, p.Key+": ", value(a.config, p.Key),
			value(b.config, p.Key)); err != nil {
			return err
		}
	}
	return nil
}

func differ(a, b *file, line, one, other string) error {
	if one == other {
		return nil
	}
	return fmt.Errorf("%v has the line %q, %v %q", a, line+one, b, line+other)
}

// complete keeps one file for each shard, of two the one with more results, and reports missing and
// doubled ones. Those in lost are reported already.
func (r *run) complete(by string, lost []*file) (faults []string) {
	of := ""
	if by != "" {
		of = fmt.Sprintf(" of %s %s", by, r.label)
	}
	n := r.files[0].of
	have := map[int]*file{}
	for _, f := range r.files {
		other := have[f.index]
		if other == nil {
			have[f.index] = f
			continue
		}
		if n == 1 {
			faults = append(faults, fmt.Sprintf(
				"%v and %v are both a whole run%s (--by LABEL keeps "+
					"runs apart; counts of bench sim need no merge, only cat)", other, f, of))
		} else {
			faults = append(faults, fmt.Sprintf("shard %s%s is there twice: %v and %v", shard(f),
				of, other, f))
		}
		if f.results > other.results {
			have[f.index] = f
		}
	}
	var missing []int
	r.files = nil
	for i := 1; i <= n; i++ {
		told := func(f *file) bool { return f.lost() != "" && f.index == i && f.of == n }
		if f := have[i]; f != nil {
			r.files = append(r.files, f)
		} else if !slices.ContainsFunc(lost, told) {
			missing = append(missing, i)
		}
	}
	if missing != nil {
		faults = append(faults, fmt.Sprintf("missing%s: shard %s of %d", of, ranges(missing), n))
	}
	return faults
}

// ranges writes ascending numbers: "3, 7-9".
func ranges(numbers []int) string {
	var words []string
	for i := 0; i < len(numbers); {
		k := i
		for k+1 < len(numbers) && numbers[k+1] == numbers[k]+1 {
			k++
		}
		if word := fmt.Sprint(numbers[i]); k == i {
			words = append(words, word)
		} else {
			words = append(words, fmt.Sprintf("%s-%d", word, numbers[k]))
		}
		i = k + 1
	}
	return strings.Join(words, ", ")
}

// Natural compares numbers in names by value: node9 is before node10, and node09 before node9.
func Natural(a, b string) int {
	whole, other := a, b
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x > 0 && y > 0 {
			m, n := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
			if c := cmp.Or(cmp.Compare(len(m), len(n)), strings.Compare(m, n)); c != 0 {
				return c
			}
			a, b = a[x:], b[y:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(whole, other))
}

func digits(text string) int {
	return len(text) - len(strings.TrimLeft(text, "0123456789"))
}

// Write writes each run's parts in the order of the suite, and runs in the order of labels. Faults
// become comments.
func (p *Plan) Write(out io.Writer) error {
	w := writer{out: bufio.NewWriterSize(out, 1<<20), config: map[string]string{}}
	defer w.close()
	for i, r := range p.runs {
		spans, err := r.spans()
		if err != nil {
			return err
		}
		w.begun, w.comments = map[*file]bool{}, map[string]string{}
		w.lead(r, i == 0, len(p.runs), p.Faults)
		for _, s := range spans {
			if err := w.span(s); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(w.out, "# %s: %d results\n", keys.End, p.Results)
	return w.out.Flush()
}

func (r run) spans() (all []span, err error) {
	for _, f := range r.files {
		all = append(all, f.spans...)
	}
	slices.SortStableFunc(all, func(a, b span) int { return cmp.Compare(a.place, b.place) })
	for i := range all {
		if i > 0 && all[i].place == all[i-1].place && all[i].file != all[i-1].file {
			return nil, fmt.Errorf("%v and %v both have part %d of the suite", all[i-1].file,
				all[i].file, all[i].place)
		}
	}
	return all, nil
}
