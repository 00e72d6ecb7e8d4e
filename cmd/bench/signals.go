package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stridebench/stridebench/access/session/progress"
	"github.com/stridebench/stridebench/results/outfile"
)

// A stopSignal asked the program to end.
type stopSignal struct{ syscall.Signal }

// Error names the signal.
func (s stopSignal) Error() string { return "signal: " + s.String() }

// Unwrap returns context.Canceled.
func (s stopSignal) Unwrap() error { return context.Canceled }

// exitCode returns the exit code that shells give a signal.
func (s stopSignal) exitCode() int { return 128 + int(s.Signal) }

// A stoppedError reports what a signal ended.
type stoppedError struct {
	so     string // the consequence
	signal error
}

func (s stoppedError) Error() string { return "interrupted, " + s.so }

// Unwrap returns the signal.
func (s stoppedError) Unwrap() error { return s.signal }

func stopped(ctx context.Context, so string) error { return stoppedError{so, context.Cause(ctx)} }

// orStopped returns err, or a stoppedError if a signal ended the verb.
func (c call) orStopped(err error, so string) error {
	if c.ctx.Err() != nil {
		return stopped(c.ctx, so)
	}
	return err
}

type watched struct{}

// A watching is what a verb finishes before it looks at the context, nil while it does not watch.
type watching = atomic.Pointer[string]

// watch declares that a verb finishes something, such as "this pass", and ends once ctx is done.
// The first signal then only cancels ctx, until stop.
func watch(ctx context.Context, until string) (stop func()) {
	verb, ok := ctx.Value(watched{}).(*watching)
	if !ok {
		return func() {} // no signal ends this context
	}
	verb.Store(&until)
	return func() { verb.Store(nil) }
}

// catchSignals returns the context of the program. While a verb watches, the first signal, such as
// Ctrl-C, cancels it with a stopSignal as cause. A second signal, or one while no verb watches,
// ends the program at once and removes temporary files. A signal soon after the first is the same
// wish: timeout signals its child and then its group. A closed pipe is a write error, so that
// finished results are kept.
func catchSignals() context.Context {
	verb := new(watching)
	ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), watched{}, verb))
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGQUIT)
	// Go knows whether these two were ignored.
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		// nohup and background jobs of a script ignore them, and so must this program.
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() {
		var first time.Time
		for s := range signals {
			stop := stopSignal{s.(syscall.Signal)}
			if first.IsZero() && verb.Load() != nil {
				first = time.Now()
				cancel(stop)
				time.AfterFunc(endsSoon, func() { stopping(verb, stop) })
				continue
			}
			if time.Since(first) < together {
				continue
			}
			outfile.DiscardAll()
			leftovers.Range(func(dir, _ any) bool { return os.RemoveAll(dir.(string)) == nil })
			what := progress.Clear()
			if what != "" {
				what = " while " + what
			}
			fmt.Fprintf(os.Stderr, "bench: interrupted%s, and what was not finished is lost\n",
				what)
			end(stop)
		}
	}()
	return ctx
}

var leftovers sync.Map

// together is the time after the first signal in which another one is ignored.
const together = 300 * time.Millisecond

// endsSoon is how soon a verb must end to do so without a message.
const endsSoon = 100 * time.Millisecond

// stopping says that a signal was heard, if the verb still runs.
func stopping(verb *watching, s stopSignal) {
	until, again := verb.Load(), "Ctrl-C again"
	if until == nil {
		return
	}
	if s.Signal != syscall.SIGINT {
		again = "a second signal"
	}
	progress.Clear()
	fmt.Fprintf(os.Stderr, "bench: stopping after %s; %s stops now\n", *until, again)
}

// end kills the program by the signal, so that a shell stops too at Ctrl-C. At SIGQUIT, Go prints
// all goroutines.
func end(s stopSignal) {
	signal.Reset(s.Signal)
	if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(s.Signal) == nil {
		time.Sleep(time.Second) // until it arrives
	}
	os.Exit(s.exitCode()) // for systems without signals
}
