package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/results"
)

// A program is one of two whose samples are interleaved.
type program struct {
	path  string
	arg0  string
	names []string // of its suite
	help  []byte   // of its run, which tells what flags it knows
	head  []byte   // of its first output
	lines []byte   // of results, of all outputs
}

// turnTime is how long a sample of a turn lasts by default: by then others on the
// machine have mostly paused once, and a process costs as much.
const turnTime = 100 * time.Millisecond

// interleave runs an older program and this one by turns, so that whatever the
// machine does falls on both, and returns the results of each. Each sample is
// from a process of its own: samples of one process share where its pages came
// to lie, and would pass for more evidence than they are. Which program goes
// first changes from turn to turn.
func (f *runFlags) interleave(ctx context.Context, cmd *cobra.Command, j job, pair [2]*program) (old, new []byte, err error) {
	if !f.pattern.shape.set && !slices.ContainsFunc(pair[0].names, func(name string) bool { return namesOf(j.suite)[name] }) {
		return nil, nil, fmt.Errorf("--ab %s: it has none of these benchmarks", f.ab)
	}
	progress := newProgress(cmd, len(j.suite)*f.count, "%d of %d turns ")
	defer progress.end()
	for _, c := range j.suite {
		for round := range f.count {
			for turn := range pair {
				p := pair[(round+turn)%2]
				flags := f.childFlags(j, p)
				if round > 0 && p.knows("--times-only") { // the counts are the same in every turn
					flags = append(flags, "--times-only")
				}
				if err := p.run(ctx, flags, c, f.pattern.shape.set); err != nil {
					return nil, nil, err
				}
			}
			progress.step()
		}
	}
	return slices.Concat(pair[0].head, pair[0].lines), slices.Concat(pair[1].head, pair[1].lines), nil
}

// gone are the names of the older program's suite, of what the flags ask for,
// that this one's lacks.
func (f *runFlags) gone(ctx context.Context, old *program, j job) ([]string, error) {
	args := append([]string{"list", "--filter", f.suiteOf.filter}, f.suiteOf.fileFlag()...)
	if f.suiteOf.quick {
		args = append(args, "--quick")
	}
	list, err := old.output(ctx, args...)
	if err != nil {
		return nil, err
	}
	here := namesOf(j.suite)
	for _, s := range j.studies {
		here[s.Name] = true
	}
	return slices.DeleteFunc(strings.Fields(string(list)), func(name string) bool { return here[name] }), nil
}

// knows tells whether a version has a flag.
func (p *program) knows(flag string) bool { return bytes.Contains(p.help, []byte(flag)) }

// programs are the older one and this one.
func (f *runFlags) programs(ctx context.Context) (pair [2]*program, err error) {
	old, err := exec.LookPath(f.ab)
	if err != nil {
		return pair, fmt.Errorf("--ab: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return pair, err
	}
	pair = [2]*program{{path: old, arg0: old}, {path: self, arg0: os.Args[0]}}
	for _, p := range pair {
		list, err := p.output(ctx, append([]string{"list"}, f.suiteOf.fileFlag()...)...)
		if err != nil {
			return pair, err
		}
		p.names = strings.Fields(string(list))
		if p.help, err = p.output(ctx, "run", "--help"); err != nil {
			return pair, err
		}
	}
	return pair, nil
}

// childFlags are the flags of one turn of a program, but for what is run: such as
// every version has, and what was asked for.
func (f *runFlags) childFlags(j job, p *program) []string {
	flags := []string{"run", "--count", "1", "--sample-time", f.minTime.String()}
	if f.caches != "" && p.knows("--TLB") { // it takes the TLB of a description too
		file := f.caches
		if path, _, err := readDescription(file); err == nil { // a word that the older one may not know
			file = path
		}
		flags = append(flags, "--caches", file)
	} else {
		flags = append(flags, "--D1", j.config.First().String(), "--LL", j.config.Last().String())
	}
	if f.tlb.set {
		flags = append(flags, "--TLB", f.tlb.text)
	}
	if f.pages.set {
		flags = append(flags, "--pages", f.pages.text)
	}
	if !f.pattern.shape.set {
		return append(flags, f.suiteOf.fileFlag()...)
	}
	if f.pattern.pad != 0 {
		flags = append(flags, "--pad", strconv.Itoa(f.pattern.pad))
	}
	for name, flag := range map[string]string{"shape": f.pattern.shape.text, "dtype": f.pattern.dtype.text, "view": f.pattern.view,
		"op": f.pattern.op.text, "with": f.pattern.with.text, "tile": f.pattern.tile.text} {
		if flag != "" {
			flags = append(flags, "--"+name+"="+flag)
		}
	}
	for _, order := range f.orders {
		flags = append(flags, "--order", order)
	}
	if len(f.kernels) != 1 || f.kernels[0] != "scalar" { // which older versions have without being asked
		for _, kernel := range f.kernels {
			flags = append(flags, "--kernel", kernel)
		}
	}
	return flags
}

// run takes the samples of one turn. Of the suite, a program is asked for what
// it has; a pattern of one's own is said by the flags.
func (p *program) run(ctx context.Context, flags []string, c access.Comparison, own bool) error {
	if !own {
		var wanted []string
		for _, b := range c {
			if slices.Contains(p.names, b.Name) {
				wanted = append(wanted, strconv.Quote(b.Name))
			}
		}
		if wanted == nil {
			return nil
		}
		flags = append(flags, "--filter", ".fullname:("+strings.Join(wanted, " OR ")+")")
	}
	text, err := p.output(ctx, flags...)
	if err != nil {
		return err
	}
	if _, err := results.Parse(p.path, text); err != nil {
		return err
	}
	head, lines, ok := bytes.Cut(text, []byte("\n\n"))
	if !ok {
		return fmt.Errorf("%s: its results have no head", p.path)
	}
	if p.head == nil {
		p.head = append(head, '\n', '\n')
	}
	p.lines = append(p.lines, withoutLast(lines)...)
	return nil
}

// withoutLast leaves out what a program says of its whole run, which is one turn.
func withoutLast(lines []byte) []byte {
	var kept []byte
	for line := range bytes.Lines(lines) {
		if !bytes.HasPrefix(line, []byte("# overhead:")) && !bytes.HasPrefix(line, []byte("# warning:")) {
			kept = append(kept, line...)
		}
	}
	return kept
}

// output runs the program. At Ctrl-C it is interrupted too.
func (p *program) output(ctx context.Context, args ...string) ([]byte, error) {
	var out, stderr limited
	c := exec.CommandContext(ctx, p.path, args...)
	c.Args[0], c.Stdout, c.Stderr = p.arg0, &out, &stderr
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 10 * time.Second
	err := c.Run()
	if ctx.Err() != nil {
		return nil, stopped(ctx, "of two interleaved programs nothing is kept")
	}
	switch {
	case out.full || stderr.full:
		return nil, fmt.Errorf("%s %s: it writes more than %s, and is no bench", p.path, args[0], results.Bytes(maxOutput))
	case err != nil:
		return nil, fmt.Errorf("%s %s: %w: %s", p.path, args[0], err, strings.TrimSpace(stderr.text.String()))
	}
	return out.text.Bytes(), nil
}

// maxOutput is what a turn of a program may write.
const maxOutput = 16 << 20

// A limited buffer takes no more than maxOutput, so that a program that never ends
// ends at its first write beyond.
type limited struct {
	text bytes.Buffer // not embedded: its ReadFrom would take all
	full bool
}

// Write implements io.Writer.
func (l *limited) Write(text []byte) (int, error) {
	if l.full = l.full || l.text.Len()+len(text) > maxOutput; l.full {
		return 0, errors.New("too much output")
	}
	return l.text.Write(text)
}

// distinct tells whether two paths are two files, or what is none, such as a
// device, to which both may be written.
func distinct(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		info, err := os.Stat(a)
		return err == nil && !info.Mode().IsRegular()
	}
	one, err1 := os.Stat(a)
	two, err2 := os.Stat(b)
	return err1 != nil || err2 != nil || !one.Mode().IsRegular() || !os.SameFile(one, two)
}

// runAB is bench run --ab: both files are written, or none.
func (f *runFlags) runAB(ctx context.Context, cmd *cobra.Command, j job) error {
	if f.out == "" || f.abOut == "" {
		return errors.New("--ab wants a file for each program's results: --out for this one's, --ab-out for the other's")
	}
	if !distinct(f.out, f.abOut) {
		return fmt.Errorf("--ab-out %s: it is the file of --out, which would be lost", f.abOut)
	}
	newFile, err := createFile("out", f.out)
	if err != nil {
		return err
	}
	defer newFile.Discard()
	oldFile, err := createFile("ab-out", f.abOut)
	if err != nil {
		return err
	}
	defer oldFile.Discard()
	pair, err := f.programs(ctx)
	if err != nil {
		return err
	}
	old, new, err := f.interleave(ctx, cmd, j, pair)
	if err != nil {
		return err
	}
	if _, err := oldFile.Write(old); err != nil {
		return err
	}
	if _, err := newFile.Write(new); err != nil {
		return err
	}
	return errors.Join(oldFile.Commit(), newFile.Commit())
}
