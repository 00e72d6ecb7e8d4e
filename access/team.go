package access

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A team is workers that do a step together, over and over: the goroutine that
// makes it and others, each locked to a thread that is pinned to a CPU. Within a
// turn, from enter to leave, all of them spin between steps, so that a step begins
// at the same time everywhere and waking a thread is in no time. Between turns
// they sleep, so as not to disturb what else is measured.
type team struct {
	size   int
	pinned bool // all are
	wake   []chan struct{}
	ended  sync.WaitGroup
	procs  int // of Go's scheduler, before
	_      [64]byte
	step   atomic.Uint32 // number of the step; 0 is none
	_      [64]byte
	ready  atomic.Int32 // workers that are about to begin the step
	_      [64]byte
	done   atomic.Int32 // workers that have ended it
	_      [64]byte
	work   func(worker int) // of the step; nil to leave
	clocks []clock          // by worker
}

// A clock is when a worker began and ended a step, and what its part summed to. It
// has cache lines of its own.
type clock struct {
	start, end time.Duration // since the team's epoch
	sum        float64
	_          [104]byte
}

// epoch is what clocks count from.
var epoch = time.Now()

// newTeam makes a team of one worker for each CPU, of which the first is the
// goroutine that calls it: it is pinned by the caller. A CPU of -1 is none.
func newTeam(cpus []int) *team {
	t := &team{size: len(cpus), pinned: true, clocks: make([]clock, len(cpus))}
	// Where a worker's thread could not run beside the others, all would wait for it.
	// One more is for the rest of the program.
	if t.procs = runtime.GOMAXPROCS(0); t.procs <= t.size {
		runtime.GOMAXPROCS(t.size + 1)
	}
	var pinned sync.WaitGroup
	var failed atomic.Bool
	for i := 1; i < t.size; i++ {
		wake := make(chan struct{})
		t.wake = append(t.wake, wake)
		pinned.Add(1)
		t.ended.Go(func() {
			runtime.LockOSThread() // for good: the thread ends with the goroutine
			if pinThread(cpus[i]) != nil {
				failed.Store(true)
			}
			pinned.Done()
			for range wake {
				t.turn(i)
			}
		})
	}
	pinned.Wait()
	t.pinned = !failed.Load()
	return t
}

// turn is a worker's, from enter to leave.
func (t *team) turn(worker int) {
	for step := uint32(1); ; step++ {
		for spins := 1; t.step.Load() < step; spins++ {
			rest(spins)
		}
		work := t.work
		if work == nil {
			t.done.Add(1)
			return
		}
		t.meet()
		work(worker)
		t.done.Add(1)
	}
}

// meet returns when all workers are there.
func (t *team) meet() {
	t.ready.Add(1)
	for spins := 1; t.ready.Load() < int32(t.size); spins++ {
		rest(spins)
	}
}

// rest lets others run now and then, of a worker that waits: where CPUs are shared
// with other programs, it may be long.
func rest(spins int) {
	if spins%(1<<16) == 0 {
		runtime.Gosched()
	}
}

// enter begins a turn.
func (t *team) enter() {
	t.step.Store(0)
	for _, w := range t.wake {
		w <- struct{}{}
	}
}

// do has every worker do its part of a step, and returns when all have.
func (t *team) do(work func(worker int)) {
	t.work = work
	t.ready.Store(0)
	t.done.Store(0)
	t.step.Add(1)
	if work != nil {
		t.meet()
		work(0)
	}
	t.done.Add(1)
	for spins := 1; t.done.Load() < int32(t.size); spins++ {
		rest(spins)
	}
}

// leave ends a turn.
func (t *team) leave() { t.do(nil) }

// timed has every worker do its part, which returns a sum, and returns the sum of
// all and the time from the first one's start to the last one's end.
func (t *team) timed(part func(worker int) float64) (sum float64, took time.Duration) {
	t.do(func(i int) {
		c := &t.clocks[i]
		c.start = time.Since(epoch)
		c.sum = part(i)
		c.end = time.Since(epoch)
	})
	start, end := t.clocks[0].start, t.clocks[0].end
	for i := range t.clocks {
		c := &t.clocks[i]
		start, end, sum = min(start, c.start), max(end, c.end), sum+c.sum
	}
	return sum, end - start
}

// end ends the workers, outside of a turn.
func (t *team) end() {
	for _, w := range t.wake {
		close(w)
	}
	t.ended.Wait()
	if t.procs <= t.size {
		runtime.GOMAXPROCS(t.procs)
	}
}
