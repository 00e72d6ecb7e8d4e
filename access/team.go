package access

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A team is the goroutine that makes it and others, each locked to a thread that is pinned to a
// CPU. They run steps together. Within a turn, from enter to leave, workers spin between steps. A
// step then begins everywhere at once, and no time includes waking a thread. Between turns they
// sleep, so that they do not disturb other measurements.
type team struct {
	size   int
	pinned bool // all workers are
	wake   []chan struct{}
	ended  sync.WaitGroup
	procs  int // GOMAXPROCS before newTeam
	_      [64]byte
	step   atomic.Uint32 // number of the step, from 1
	_      [64]byte
	ready  atomic.Int32 // about to begin the step
	_      [64]byte
	done   atomic.Int32 // have ended the step
	_      [64]byte
	work   func(worker int) // of the step; nil ends the turn
	clocks []clock          // by worker
}

// A clock is the start, end and sum of a worker's step, in cache lines of its own.
type clock struct {
	start, end time.Duration // since the team's epoch
	sum        float64
	_          [104]byte
}

var epoch = time.Now()

// newTeam makes a team of one worker per CPU. The first is the calling goroutine, which the caller
// pins. A CPU of -1 leaves its worker unpinned.
func newTeam(cpus []int) *team {
	t := &team{size: len(cpus), pinned: true, clocks: make([]clock, len(cpus))}
	// All workers wait if a worker's thread cannot run. One more thread is for the rest of the
	// program.
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
			runtime.LockOSThread() // the thread ends with the goroutine
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

func (t *team) meet() {
	t.ready.Add(1)
	for spins := 1; t.ready.Load() < int32(t.size); spins++ {
		rest(spins)
	}
}

// rest yields now and then: the wait may be long if other programs share the CPUs.
func rest(spins int) {
	if spins%(1<<16) == 0 {
		runtime.Gosched()
	}
}

func (t *team) enter() {
	t.step.Store(0)
	for _, w := range t.wake {
		w <- struct{}{}
	}
}

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

func (t *team) leave() { t.do(nil) }

// timed runs a step. It returns the sum of all parts, and the time from the earliest start to the
// latest end.
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

func (t *team) end() {
	for _, w := range t.wake {
		close(w)
	}
	t.ended.Wait()
	if t.procs <= t.size {
		runtime.GOMAXPROCS(t.procs)
	}
}
