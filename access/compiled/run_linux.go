package compiled

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Run runs the program and passes its accesses to a sink in order. It ends when the program, the
// reporting or the context ends, and kills processes still running. Even with an error, the outcome
// covers the counted part.
func (p *Program) Run(ctx context.Context, o Options, sink Sink) (outcome Outcome, err error) {
	r, file, err := newRing()
	if err != nil {
		return outcome, err
	}
	defer r.unmap()
	defer file.Close()
	if err := p.choose(r, o); err != nil {
		return outcome, err
	}
	var said lastLine
	path, err := filepath.Abs(p.path)
	if err != nil {
		return outcome, err
	}
	cmd := exec.Command(path, o.Args...)
	cmd.Stdin, cmd.Stderr = o.Stdin, &said
	cmd.ExtraFiles = []*os.File{file}
	cmd.Env = append([]string{"STRIDEBENCH_ACCESSES=3"}, o.Environment...)
	cmd.WaitDelay = time.Second // for children that hold its output
	fixed, err := start(cmd)
	if err != nil {
		return outcome, err
	}
	d := &decoder{program: p, sink: sink, places: make([]place, 1), arrange: o.Arrange,
		by: map[[7]uint64]Place{}}
	d.outcome.Moved = !fixed
	failed := d.follow(ctx, r, cmd)
	d.outcome.Calls, d.outcome.Said = r.Calls, said.last()
	return d.outcome, failed
}

func (p *Program) choose(r *ring, o Options) error {
	spans, inlined := p.functionCode(o.Function)
	if o.Region.To > 0 {
		spans = p.lineCode(o.Region)
	}
	switch {
	case o.Function == "" && o.Region.To == 0:
		return nil
	case len(spans) == 0:
		return fmt.Errorf("it has no function %s", cmp.Or(o.Function,
			"with code between #pragma scop and #pragma endscop"))
	case inlined && o.Last > 0:
		return fmt.Errorf("%s is inlined, so that its calls cannot be counted: "+
			"declare it with __attribute__((noinline))", o.Function)
	case len(spans) > ringSpans:
		return fmt.Errorf("%s has %d pieces of code, want at most %d", o.Function,
			len(spans), ringSpans)
	}
	r.Spans, r.First, r.Last = uint64(len(spans)), o.First, o.Last
	for i, s := range spans {
		r.Span[i] = [2]uint64{s.from, s.end()}
	}
	return nil
}

// start starts a command in its own process group, with the same addresses in each run if the
// kernel allows it.
func start(cmd *exec.Cmd) (fixed bool, err error) {
	runtime.LockOSThread() // a personality belongs to a thread
	defer runtime.UnlockOSThread()
	const noRandomize = 0x0040000
	old, _, errno := syscall.Syscall(unix.SYS_PERSONALITY, 0xffffffff, 0, 0)
	if errno == 0 {
		_, _, errno = syscall.Syscall(unix.SYS_PERSONALITY, old|noRandomize, 0, 0)
		defer syscall.Syscall(unix.SYS_PERSONALITY, old, 0, 0)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return errno == 0, cmd.Start()
}

func (d *decoder) follow(ctx context.Context, r *ring, cmd *exec.Cmd) error {
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // the result is in cmd.ProcessState
	taken, pause := uint64(0), time.NewTicker(200*time.Microsecond)
	defer pause.Stop()
	var failed error
	for running := true; running; {
		failed = d.upTo(r, &taken, r.Published.Load())
		if failed != nil || d.outcome.Stopped != "" || ctx.Err() != nil {
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-ended
			break
		}
		select {
		case <-ended:
			running = false
			if how := cmd.ProcessState.Sys().(syscall.WaitStatus); how.Signaled() {
				d.outcome.Signal = how.Signal().String()
			} else {
				d.outcome.Code = how.ExitStatus()
			}
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // children left running
			if r.Version != ringFormat {
				return fmt.Errorf("it does not report (built by another bench, or it cannot "+
					"start): %v",
					cmd.ProcessState)
			}
		case <-pause.C:
		}
	}
	if failed == nil && d.outcome.Stopped == "" {
		failed = d.upTo(r, &taken, r.Done)
	}
	d.release()
	d.flush()
	return errors.Join(failed, context.Cause(ctx))
}

func (d *decoder) upTo(r *ring, taken *uint64, to uint64) error {
	if to > *taken && d.objects == nil {
		d.begin(r)
	}
	for *taken < to {
		from := *taken % ringWords
		n := min(to-*taken, ringWords-from, ringPart)
		if err := d.decode(r.Word[from : from+n]); err != nil {
			return err
		}
		*taken += n
		r.Taken.Store(*taken)
	}
	return nil
}

// begin names the globals and the stack.
func (d *decoder) begin(r *ring) {
	d.program.bias = r.Bias
	d.objects = newObjects(r.Stack)
	for _, g := range d.program.globals {
		p := placed{span: span{g.from + r.Bias, g.size}, object: d.objects.named(g.name)}
		if d.arrange.Align > 0 && g.array {
			p.move = d.arrange.place(g.size) - p.from
		}
		p.hidden = d.arrange.Align > 0 && !g.array
		if g.from != 0 {
			d.objects.put(p)
		}
	}
}

type lastLine []byte

func (l *lastLine) Write(b []byte) (int, error) {
	*l = append(*l, b...)
	*l = slices.Clone((*l)[max(0, len(*l)-400):])
	return len(b), nil
}

func (l lastLine) last() string {
	text := strings.TrimSpace(string(l))
	return text[strings.LastIndexByte(text, '\n')+1:]
}
