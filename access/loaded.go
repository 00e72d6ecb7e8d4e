package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stridebench/stridebench/access/kernel"
)

// LoadOptions say how latency under load is measured.
type LoadOptions struct {
	Chase   int           // bytes that the chase goes through, a load for each line of 64 B
	Stream  int           // bytes that each of the other threads streams, at least streamChunk
	Loads   []float64     // shares of the time in which the others stream, each from 0 to 1
	Count   int           // samples of each
	MinTime time.Duration // least length of a sample, about
	Pages   Pages
	CPUs    []int // to pin to, the chase to the first; nil for cpu.Workers
}

// A LoadSample is the latency of a load, in ns, while so many bytes a second went
// over the memory: what the other threads read, and a line for each load of the
// chase.
type LoadSample struct {
	Load      int // index into the loads
	Ns        float64
	Bandwidth float64
}

// streamChunk is what a stream reads between two looks at the clock, in bytes: some
// microseconds.
const streamChunk = 32 << 10

// MeasureLoaded measures the latency of dependent loads while other threads stream,
// as Intel's Memory Latency Checker does (--loaded_latency): one thread
// follows a chain of addresses (see Chase), and each other one reads memory of its own
// in vectors, and pauses after each streamChunk as long as it takes to stream for the
// share of time that is asked for. Samples of all loads are taken by turns. A sample
// begins when the streams are under way; it has many parts, some 0.1 ms each, and is
// the one at the lower quartile of those during which every stream read something: on
// a machine that is busy with others, streams do not run at times, and the chase does
// not either. It refuses to measure on one CPU.
func MeasureLoaded(ctx context.Context, o LoadOptions) ([]LoadSample, error) {
	if o.CPUs == nil {
		o.CPUs = workers()
	}
	if len(o.CPUs) < 2 {
		return nil, errors.New("latency under load wants two CPUs, one to chase and one to stream")
	}
	p, err := ChaseSpec(o.Chase/lineBytes, lineBytes).Pattern()
	if err != nil {
		return nil, err
	}
	streams := len(o.CPUs) - 1
	mem, free, err := mapArena(aligned(p.Memory)+streams*o.Stream, o.Pages, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = free() }() // it is a mapping of ours, whole
	_, unpin := pin(o.CPUs[0])
	defer unpin()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	l := &loader{LoadOptions: o, team: newTeam(o.CPUs), data: as[int32](mem),
		start: aligned(p.Memory) / 4, read: make([]tally, streams)}
	defer l.team.end()
	if l.chase, err = newRunner(p, mem); err != nil {
		return nil, err
	}
	l.prepare()
	var all []LoadSample
	for range o.Count {
		for i := range o.Loads {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			s, err := l.sample(i)
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// A loader has one worker chase and the others stream.
type loader struct {
	LoadOptions
	team  *team
	chase runner
	at    int // in the chase
	data  []int32
	start int // of the streams in data
	ended atomic.Bool
	read  []tally // by stream
}

// A tally is the bytes that a stream has read, in cache lines of its own.
type tally struct {
	atomic.Int64
	_ [120]byte
}

// prepare has each worker be the first to touch its memory.
func (l *loader) prepare() {
	n := l.Stream / 4
	l.team.enter()
	defer l.team.leave()
	l.team.do(func(worker int) {
		if worker == 0 {
			l.chase.prepare()
			return
		}
		prepare(l.data[l.start+(worker-1)*n:][:n], func(i int) int32 { return int32(i) })
	})
}

// partLinks are the loads of a part of a sample.
const partLinks = 1024

// tries is how often a sample is taken anew in most of which some stream did not run.
const tries = 8

// sample chases for as long as a sample takes, after half as long to get under way.
func (l *loader) sample(load int) (LoadSample, error) {
	var parts, some []loadPart
	var err error
	for range tries {
		if parts, err = l.parts(load); err != nil {
			return LoadSample{}, err
		}
		some = slices.DeleteFunc(slices.Clone(parts), func(p loadPart) bool {
			return p.idle && l.Loads[load] > 0
		})
		if 4*len(some) > len(parts) {
			parts = some
			break
		}
	}
	slices.SortFunc(parts, func(a, b loadPart) int { return cmp.Compare(a.ns, b.ns) })
	p := parts[len(parts)/4]
	return LoadSample{load, p.ns, p.bandwidth}, nil
}

// A loadPart is one of a sample.
type loadPart struct {
	ns, bandwidth float64 // see LoadSample
	idle          bool    // some stream read nothing
}

// parts are those of one sample.
func (l *loader) parts(load int) (parts []loadPart, err error) {
	l.ended.Store(false)
	l.team.enter()
	defer l.team.leave()
	l.team.do(func(worker int) {
		if worker > 0 {
			l.stream(worker, l.Loads[load])
			return
		}
		defer l.ended.Store(true)
		for start := time.Now(); time.Since(start) < l.MinTime/2 && err == nil; {
			_, err = l.part()
		}
		for start := time.Now(); (time.Since(start) < l.MinTime || parts == nil) && err == nil; {
			var p loadPart
			p, err = l.part()
			parts = append(parts, p)
		}
	})
	return parts, err
}

// part chases on for a part.
func (l *loader) part() (p loadPart, err error) {
	links := min(partLinks, l.chase.length)
	before := make([]int64, len(l.read))
	for i := range l.read {
		before[i] = l.read[i].Load()
	}
	start := time.Now()
	if l.chase.part(l.at, links) != 1 {
		return p, fmt.Errorf("the chase does not lead from element %d to element %d",
			l.at, l.at+links)
	}
	took := time.Since(start)
	l.at = (l.at + links) % l.chase.length
	bytes := int64(links * lineBytes)
	for i := range l.read {
		more := l.read[i].Load() - before[i]
		bytes += more
		p.idle = p.idle || more == 0
	}
	p.ns, p.bandwidth = float64(took)/float64(links), float64(bytes)/took.Seconds()
	return p, nil
}

// stream reads chunk after chunk until the chase has ended, and pauses between them
// so as to stream for a share of the time.
func (l *loader) stream(worker int, share float64) {
	if share <= 0 {
		return
	}
	n := l.Stream / 4
	data := l.data[l.start+(worker-1)*n:][:n]
	sum := kernel.NewSum[int32](kernel.Best())
	const elems = streamChunk / 4
	for at := 0; !l.ended.Load(); at += elems {
		if at+elems > n {
			at = 0
		}
		start := time.Now()
		sum.Add(data, kernel.Rows{At: at, N: elems, Count: 1})
		took := time.Since(start)
		l.read[worker-1].Add(streamChunk)
		for whole := time.Duration(float64(took) / share); time.Since(start) < whole &&
			!l.ended.Load(); {
		}
	}
	sum.Total()
}
