// Package turns is the program's own and promises nothing. It runs two bench programs alternately,
// so that disturbances on the machine affect the samples of both.
package turns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/keys"
	"github.com/stridebench/stridebench/results/show"
)

// SampleTime is the default length of a sample in a turn. Starting a process takes as long. In that
// time, other programs on the machine have mostly paused once.
const SampleTime = 100 * time.Millisecond

// A runner runs a bench program and returns its output. It stops when the context is cancelled.
type runner func(ctx context.Context, args ...string) ([]byte, error)

// A contender is one of two bench programs, perhaps of different versions, whose samples are
// interleaved.
type contender struct {
	path string // for errors
	run  runner

	names []string // of its benchmarks, and of its studies
	help  []byte   // of its run command
	head  []byte   // of its first output
	lines []byte   // of results, of all outputs
}

// meet asks a program for its benchmarks, by its list command with the flags in list, and for the
// flags of its run command.
func meet(ctx context.Context, path string, run runner, list ...string) (*contender, error) {
	c := &contender{path: path, run: run}
	names, err := run(ctx, append([]string{"list"}, list...)...)
	if err != nil {
		return nil, err
	}
	c.names = strings.Fields(string(names))
	if c.help, err = run(ctx, "run", "--help"); err == nil && !c.knows("--sample-time") {
		return nil, fmt.Errorf("%s is not a bench program: its 'run --help' lacks --sample-time",
			path)
	}
	return c, err
}

// knows reports whether the program's run command has a flag.
func (c *contender) knows(flag string) bool { return bytes.Contains(c.help, []byte(flag)) }

// Turns says how the samples of two programs are interleaved.
type Turns struct {
	Comparisons []access.Comparison
	Count       int // turns of each program
	// Flags are the arguments of a turn, which both programs must know. If Own is set, they also
	// say what to run; otherwise each program runs the benchmarks that it has.
	Flags []string
	Own   bool
	Step  func() // called after both had a turn; may be nil

	old, new *contender
}

// Meet asks an older program, and this one, for the benchmarks that they list with these flags.
func (t *Turns) Meet(ctx context.Context, older string, list ...string) error {
	path, err := exec.LookPath(older)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if t.old, err = meet(ctx, path, process(path, path), list...); err == nil {
		t.new, err = meet(ctx, self, process(self, "bench"), list...)
	}
	return err
}

// Gone returns what the older program lists, and what is not among the benchmarks and studies.
func (t *Turns) Gone(studies []string) []string {
	here := append(namesOf(t.Comparisons), studies...)
	return slices.DeleteFunc(slices.Clone(t.old.names), func(name string) bool {
		return slices.Contains(here, name)
	})
}

var errNoneInCommon = errors.New("the older program has none of these benchmarks")

// Run runs both programs alternately, and returns each one's results. Each sample is its own
// process: samples of one process share their pages, and would look like more evidence than they
// are. The programs alternate in going first.
func (t *Turns) Run(ctx context.Context) (old, new []byte, err error) {
	own := namesOf(t.Comparisons)
	if !t.Own && !slices.ContainsFunc(t.old.names, func(name string) bool {
		return slices.Contains(own, name)
	}) {
		return nil, nil, errNoneInCommon
	}
	pair := [2]*contender{t.old, t.new}
	for _, c := range t.Comparisons {
		for round := range t.Count {
			for turn := range pair {
				p := pair[(round+turn)%2]
				flags := slices.Clone(t.Flags)
				if round > 0 && p.knows("--times-only") { // the counts are the same in every turn
					flags = append(flags, "--times-only")
				}
				if err := p.turn(ctx, flags, c, t.Own); err != nil {
					return nil, nil, err
				}
			}
			if t.Step != nil {
				t.Step()
			}
		}
	}
	return t.old.text(), t.new.text(), nil
}

func (c *contender) text() []byte {
	n := 0
	for line := range bytes.Lines(c.lines) {
		if bytes.HasPrefix(line, []byte("Benchmark")) {
			n++
		}
	}
	return fmt.Appendf(slices.Concat(c.head, c.lines), "# %s: %d results\n", keys.End, n)
}

func namesOf(all []access.Comparison) (names []string) {
	for _, b := range slices.Concat(all...) {
		names = append(names, b.Name)
	}
	return names
}

func (c *contender) turn(ctx context.Context, flags []string, of access.Comparison,
	own bool) error {
	if !own {
		var wanted []string
		for _, b := range of {
			if slices.Contains(c.names, b.Name) {
				wanted = append(wanted, strconv.Quote(b.Name))
			}
		}
		if wanted == nil {
			return nil
		}
		flags = append(flags, "--filter", ".fullname:("+strings.Join(wanted, " OR ")+")")
	}
	text, err := c.run(ctx, flags...)
	if err != nil {
		return err
	}
	if _, err := results.Parse(c.path, text); err != nil {
		return err
	}
	head, lines, ok := bytes.Cut(text, []byte("\n\n"))
	if !ok {
		return fmt.Errorf("%s: its results have no head", c.path)
	}
	if c.head == nil {
		c.head = append(head, '\n', '\n')
	}
	c.lines = append(c.lines, withoutLast(lines)...)
	return nil
}

// withoutLast removes comments on the whole run, which is only a turn.
func withoutLast(lines []byte) []byte {
	var kept []byte
	for line := range bytes.Lines(lines) {
		if !slices.ContainsFunc([]string{"overhead", keys.Activity, "warning",
			keys.End}, func(key string) bool {
			return bytes.HasPrefix(line, []byte("# "+key+": "))
		}) {
			kept = append(kept, line...)
		}
	}
	return kept
}

// process returns a runner that starts a program under the name arg0. If the context is cancelled,
// it asks the process to end and returns the context's error.
func process(path, arg0 string) runner {
	return func(ctx context.Context, args ...string) ([]byte, error) {
		var out, stderr limited
		c := exec.CommandContext(ctx, path, args...)
		c.Args[0], c.Stdout, c.Stderr = arg0, &out, &stderr
		c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
		c.WaitDelay = 10 * time.Second
		err := c.Run()
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(sameSignal):
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case out.full || stderr.full:
			return nil, fmt.Errorf("%s %s: it writes more than %s, so it is not a bench program",
				path, args[0], show.Bytes(maxOutput))
		case err != nil:
			if said := strings.TrimSpace(stderr.text.String()); said != "" {
				err = fmt.Errorf("%w: %s", err, said)
			}
			return nil, fmt.Errorf("%s %s: %w", path, args[0], err)
		}
		return out.text.Bytes(), nil
	}
}

// sameSignal is how much later this process may get a signal that a terminal sends to both.
const sameSignal = 500 * time.Millisecond

// maxOutput bounds a turn's output in bytes.
const maxOutput = 16 << 20

// A limited takes at most maxOutput; an endless program fails at its next write.
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
