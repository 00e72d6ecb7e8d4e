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

// streamChunk is the bytes between two readings of the clock: some microseconds.
const streamChunk = 32 << 10

// MeasureLoaded measures the latency of dependent loads while other threads stream, as Intel's
// Memory Latency Checker does (--loaded_latency). One thread follows a chain of addresses (see
// Chase). Each other thread reads its own memory in vectors, and pauses after each streamChunk to
// reach the requested share of time.
//
// The loads are shares of the time to stream, 0 to 1. The chase has chase bytes, a load per line of
// 64 B. Each other thread streams stream bytes, at least streamChunk. Of the options, Count,
// MinTime, Pages and CPUs hold: the first CPU is for the chase. The results are by load: latencies
// in ns, and bandwidths, which count what the other threads read, and a line for each load of the
// chase.
//
// Samples of all loads are interleaved. A sample has many parts of about 0.1 ms. It is the part at
// the lower quartile of those during which every stream read something: on a busy machine, streams
// and the chase are sometimes descheduled. MeasureLoaded returns an error if there is only one CPU.
func MeasureLoaded(ctx context.Context, loads []float64, chase, stream int,
	o Options) (ns, bandwidth [][]float64, err error) {
	if o.CPUs == nil {
		o.CPUs = workers()
	}
	if len(o.CPUs) < 2 {
		return nil, nil, errors.New("latency under load wants two CPUs, one to chase and one to " +
			"stream")
	}
	p, err := ChaseSpec(chase/lineBytes, lineBytes).Pattern()
	if err != nil {
		return nil, nil, err
	}
	streams := len(o.CPUs) - 1
	mem, free, err := mapArena(aligned(p.Memory)+streams*stream, o.Pages, nil)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = free() }() // a whole mapping of ours cannot fail to unmap
	_, unpin := pin(o.CPUs[0])
	defer unpin()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	l := &loader{minTime: o.MinTime, length: stream / 4, team: newTeam(o.CPUs),
		data: as[int32](mem), start: aligned(p.Memory) / 4, read: make([]tally, streams)}
	defer l.team.end()
	if l.chase, err = newRunner(p, mem); err != nil {
		return nil, nil, err
	}
	l.prepare()
	ns, bandwidth = make([][]float64, len(loads)), make([][]float64, len(loads))
	for range o.Count {
		for i, share := range loads {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			s, err := l.sample(share)
			if err != nil {
				return nil, nil, err
			}
			ns[i], bandwidth[i] = append(ns[i], s.ns), append(bandwidth[i], s.bandwidth)
		}
	}
	return ns, bandwidth, nil
}

type loader struct {
	minTime time.Duration
	length  int // of a stream, in elements
	team    *team
	chase   runner
	at      int // of the chase
	data    []int32
	start   int // of the streams, in data
	ended   atomic.Bool
	read    []tally // by stream
}

// A tally is the bytes that a stream has read, in cache lines of its own.
type tally struct {
	atomic.Int64
	_ [120]byte
}

func (l *loader) prepare() {
	n := l.length
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

// partLinks is the loads of a part of a sample.
const partLinks = 1024

// tries bounds the repetitions of a sample in most of whose parts a stream was idle.
const tries = 8

func (l *loader) sample(share float64) (loadPart, error) {
	var parts, some []loadPart
	var err error
	for range tries {
		if parts, err = l.parts(share); err != nil {
			return loadPart{}, err
		}
		some = slices.DeleteFunc(slices.Clone(parts), func(p loadPart) bool {
			return p.idle && share > 0
		})
		if 4*len(some) > len(parts) {
			parts = some
			break
		}
	}
	slices.SortFunc(parts, func(a, b loadPart) int { return cmp.Compare(a.ns, b.ns) })
	return parts[len(parts)/4], nil
}

type loadPart struct {
	ns, bandwidth float64 // see MeasureLoaded
	idle          bool    // some stream read nothing
}

// parts measures one sample, after a warm-up of half a sample.
func (l *loader) parts(share float64) (parts []loadPart, err error) {
	l.ended.Store(false)
	l.team.enter()
	defer l.team.leave()
	l.team.do(func(worker int) {
		if worker > 0 {
			l.stream(worker, share)
			return
		}
		defer l.ended.Store(true)
		for start := time.Now(); time.Since(start) < l.minTime/2 && err == nil; {
			_, err = l.part()
		}
		for start := time.Now(); (time.Since(start) < l.minTime || parts == nil) && err == nil; {
			var p loadPart
			p, err = l.part()
			parts = append(parts, p)
		}
	})
	return parts, err
}

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

func (l *loader) stream(worker int, share float64) {
	if share <= 0 {
		return
	}
	n := l.length
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
