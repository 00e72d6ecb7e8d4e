package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

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

// watcher is told of the first signal; nil while no verb can end early.
var watcher atomic.Pointer[context.CancelCauseFunc]

// interruptible is the context of a run, done at a signal such as Ctrl-C. Its cause
// is a stopSignal.
func interruptible() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	watcher.Store(&cancel)
	return ctx, func() {
		watcher.Store(nil)
		cancel(nil)
	}
}

// stopped is the error of what a signal ended, with what comes of it.
func stopped(ctx context.Context, so string) error {
	return fmt.Errorf("interrupted, %s: %w", so, context.Cause(ctx))
}

// catchSignals tells the watcher of the first signal that asks to end. A second
// one, or one where nobody watches, ends the program at once, as it would by
// itself, but leaves no temporary files. A pipe that nobody reads is an error of
// writing, so that what was finished is kept.
func catchSignals() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		for s := range signals {
			stop := stopSignal{s.(syscall.Signal)}
			if cancel := watcher.Swap(nil); cancel != nil {
				(*cancel)(stop)
				continue
			}
			results.DiscardAll()
			end(stop)
		}
	}()
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
