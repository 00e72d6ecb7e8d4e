// Package counters is the program's own and promises nothing. It reads what the CPU counts while a
// thread runs: instructions, cycles, cache and TLB misses, in user space only. The CPU and the
// Linux kernel determine which counters exist. A virtual machine often has none.
package counters

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// An Event is something that can be counted.
type Event uint8

// The events. Misses are of reads, as the CPU defines them: lines that the program or a prefetcher
// asked for.
const (
	L1DMisses Event = iota
	LLCMisses
	DTLBMisses
	Instructions
	Cycles
	pageFaults // counted by the kernel, not by the CPU
)

var eventNames = []string{"L1d-misses", "LLC-misses", "dTLB-misses", "instructions", "cycles",
	"page-faults"}

// String returns the event's name in a unit, such as "L1d-misses".
func (e Event) String() string { return eventNames[e] }

// hardware lists the events that the CPU counts.
var hardware = []Event{L1DMisses, LLCMisses, DTLBMisses, Instructions, Cycles}

// A Reader counts events of the thread that opened it, between Start and Stop. Both call the
// kernel, so read a clock after Start and before Stop. The user code around these calls counts too:
// some hundred instructions.
type Reader interface {
	// Events returns the counted events, in the order of Stop's values.
	Events() []Event
	Start() error
	// Stop returns how often each event happened since Start: an estimate if the CPU had the
	// counters only part of the time, nil if it never had them.
	Stop() ([]float64, error)
	Close() error
}

// A missing is an event that cannot be counted here, and why.
type missing struct {
	event Event
	err   error
}

// explain says why counters are unavailable, and what would help. The level is
// kernel.perf_event_paranoid, "" if unknown.
func explain(err error, level string) string {
	switch {
	case errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.EOPNOTSUPP):
		return "the kernel knows no counters of this CPU, as in a virtual machine whose host " +
			"passes none on"
	case errors.Is(err, fs.ErrPermission): // EACCES and EPERM
		return fmt.Sprintf("the kernel refuses them; kernel.perf_event_paranoid is %q, and 2 or "+
			"less allows them (sysctl -w kernel.perf_event_paranoid=2), as a container's seccomp "+
			"profile has to", level)
	case errors.Is(err, syscall.ENOSYS):
		return "this kernel, or the container's seccomp profile, has no perf_event_open"
	}
	return err.Error()
}

// Hardware returns a function that opens the CPU's counters, to be called on the measured thread,
// and a note that names them. It returns nil and why if there are none.
func Hardware() (open func() (Reader, error), note string) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r, missing, err := openEvents(hardware...)
	if err != nil {
		return nil, "none of the CPU's: " + explain(err, paranoia())
	}
	var words []string
	for _, e := range r.Events() {
		words = append(words, e.String())
	}
	for _, m := range missing {
		words = append(words, fmt.Sprintf("no %s (%v)", m.event, m.err))
	}
	if err := r.Close(); err != nil {
		return nil, err.Error()
	}
	open = func() (Reader, error) {
		r, _, err := openEvents(hardware...)
		return r, err
	}
	return open, strings.Join(words, ", ")
}

// A reading is a group's time enabled and time counting, in ns, and its counts, since it was
// opened.
type reading struct {
	enabled, running uint64
	counts           []uint64
}

// parseReading decodes PERF_FORMAT_GROUP with both times: the number of events, the times, the
// counts (see perf_event_open(2)).
func parseReading(text []byte, events int) (reading, error) {
	if want := 8 * (3 + events); len(text) != want {
		return reading{}, fmt.Errorf("the kernel returned %d B of counters, not %d",
			len(text), want)
	}
	var words []uint64
	for at := range slices.Chunk(text, 8) {
		words = append(words, binary.NativeEndian.Uint64(at))
	}
	if words[0] != uint64(events) {
		return reading{}, fmt.Errorf("the kernel returned %d counters, not %d", words[0], events)
	}
	return reading{words[1], words[2], words[3:]}, nil
}

// since returns the counts since another reading, scaled up if the group counted only part of the
// time; nil if it never counted.
func (r reading) since(before reading) []float64 {
	enabled, running := r.enabled-before.enabled, r.running-before.running
	if running == 0 {
		return nil
	}
	scale := max(1, float64(enabled)/float64(running))
	var values []float64
	for i, n := range r.counts {
		values = append(values, float64(n-before.counts[i])*scale)
	}
	return values
}
