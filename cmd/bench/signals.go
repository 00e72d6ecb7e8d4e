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
	"github.com/stridebench/stridebench/results"
)

// A stopSignal asked the program to end.
type stopSignal struct{ syscall.Signal }

// Error names the signal.
func (s stopSignal) Error() string { return "signal: " + s.String() }

// Unwrap makes it a context.Canceled.
func (s stopSignal) Unwrap() error { return context.Canceled }

// exitCode is how shells count it.
func (s stopSignal) exitCode() int { return 128 + int(s.Signal) }

// A stoppedError is of what a signal ended.
type stoppedError struct {
	so     string // what comes of it
	signal error
}

func (s stoppedError) Error() string { return "interrupted, " + s.so }

// Unwrap is the signal.
func (s stoppedError) Unwrap() error { return s.signal }

// stopped is the error of what a signal ended, with what comes of it.
func stopped(ctx context.Context, so string) error { return stoppedError{so, context.Cause(ctx)} }

// watched is the key of a context's watching.
type watched struct{}

// A watching is what a verb has said of signals.
type watching struct {
	// what it finishes before it looks at the context; nil while nobody watches
	until atomic.Pointer[string]
	// what comes of it where a signal ends it at once; nil if nothing is kept
	keeps atomic.Pointer[string]
}

// watch says that a verb, from now until stop, ends once its context is done and
// something is finished, such as "this pass". The first signal then does no more than that.
func watch(ctx context.Context, until string) (stop func()) {
	verb, ok := ctx.Value(watched{}).(*watching)
	if !ok {
		return func() {} // a context that no signal ends
	}
	verb.until.Store(&until)
	return func() { verb.until.Store(nil) }
}

// keeping says what comes of a verb that a signal ends at once, where that is not nothing.
func keeping(ctx context.Context, so string) {
	if verb, ok := ctx.Value(watched{}).(*watching); ok {
		verb.keeps.Store(&so)
	}
}

// catchSignals returns the context of the whole program. The first signal that
// asks to end, such as Ctrl-C, ends it, with a stopSignal as its cause, where a
// verb watches. A second one, or one where nobody watches, ends the program at
// once, as it would by itself, but leaves no temporary files; one that comes
// together with the first is the same wish (timeout signals its child, and then its
// group). A pipe that nobody reads is an error of writing, so that what was finished is kept.
func catchSignals() context.Context {
	verb := new(watching)
	ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), watched{}, verb))
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGQUIT)
	// of which Go knows whether they were ignored
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		// as nohup has it, and a script what it runs in the background: Ctrl-C is not for that
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() {
		var first time.Time
		for s := range signals {
			stop := stopSignal{s.(syscall.Signal)}
			if first.IsZero() && verb.until.Load() != nil {
				first = time.Now()
				cancel(stop)
				time.AfterFunc(endsSoon, func() { verb.stopping(stop) })
				continue
			}
			if time.Since(first) < together {
				continue
			}
			results.DiscardAll()
			leftovers.Range(func(dir, _ any) bool { return os.RemoveAll(dir.(string)) == nil })
			interrupted(progress.Clear(), verb.keeps.Load())
			end(stop)
		}
	}()
	return ctx
}

// leftovers are the temporary folders that there are.
var leftovers sync.Map

// together is how soon after the first a second signal is taken for the same.
const together = 300 * time.Millisecond

// endsSoon is how soon after a signal a verb ends that need not say that it was heard.
const endsSoon = 100 * time.Millisecond

// stopping says on stderr, of a verb that has not ended, that a signal was heard.
func (w *watching) stopping(s stopSignal) {
	until, again := w.until.Load(), "Ctrl-C again"
	if until == nil {
		return
	}
	if s.Signal != syscall.SIGINT {
		again = "a second signal"
	}
	progress.Clear()
	fmt.Fprintf(os.Stderr, "bench: stopping after %s; %s stops now\n", *until, again)
}

// interrupted says on stderr what a signal ends at once, and what comes of it.
func interrupted(what string, so *string) {
	if what != "" {
		what = " while " + what
	}
	if so == nil {
		so = new("nothing is kept")
	}
	fmt.Fprintf(os.Stderr, "bench: interrupted%s, %s\n", what, *so)
}

// end ends the program by a signal, so that a shell sees what ended it, and stops
// too at Ctrl-C. At SIGQUIT, Go prints what every goroutine does.
func end(s stopSignal) {
	signal.Reset(s.Signal)
	if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(s.Signal) == nil {
		time.Sleep(time.Second) // until it arrives
	}
	os.Exit(s.exitCode()) // where there are no signals
}
