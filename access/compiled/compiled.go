// Package compiled runs programs and reports the accesses that their machine code makes.
//
// A program is built by a command of [Command]: the compiler puts a call before every load and
// store, as for its detector of races (-fsanitize=thread), and a runtime of ours is linked in
// place of the detector's. So the compiler decides what a program means, and which accesses are
// made: scalars that stay in registers make none. The accesses come through memory that both
// processes share, in their order, at a few nanoseconds each. They are named by the line and
// function (DWARF) and by the object that they touch: a global variable, the line that
// allocated memory, the stack.
//
// What libraries do is not reported, but for memset, memcpy and memmove, which count as
// accesses of 16 B.
package compiled

import (
	"io"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// A Place is where in the source an access is made, with the innermost function, be it
// inlined. What has no line has the zero File.
type Place struct {
	Function string
	File     string
	Line     int
}

// A Source is the accesses of one kind that one place makes to one object.
type Source struct {
	Kind   nest.Kind
	Place  Place
	Object string // "a", "heap of a.c:12", "stack"
}

// A Sink counts accesses in their order.
type Sink interface {
	// New returns the number of a new source.
	New(Source) int
	// Accesses are the next ones. The slice is used again after the call.
	Accesses([]simcache.Reference)
}

// An Outcome is how a run ended.
type Outcome struct {
	Calls   uint64 // of the function
	Code    int
	Signal  string // that ended it, if one did
	Stopped string // why nothing was reported from then on, if so
	Forked  bool   // child processes ran, whose accesses are not reported
	Moved   bool   // addresses differ from run to run: the kernel would not fix them
	Said    string // the last line on its stderr
}

// Options say what is run.
type Options struct {
	Args        []string // after the program's name
	Stdin       io.Reader
	Environment []string // NAME=VALUE; the stack begins below it, so that it moves addresses
	Function    string   // the function whose accesses are reported, with what it calls; "" is all
	First, Last uint64   // the calls of it that are, from 1 on; 0, 0 is all
	Region      Region   // in place of a function, if it has lines
	Arrange     Arrangement
}

// A Region is lines of a file whose accesses are reported, with what they call.
type Region struct {
	File     string // its base name
	From, To int
}

// An Arrangement places arrays as package csource does: those of the file in the order of their
// declarations, then those of a [Driver], at multiples of Align from Origin on. Accesses to
// variables of the file that are no arrays are not reported. Without Align, all stay where
// they are.
type Arrangement struct {
	Origin, Align uint64
	Parameters    []string // names of the driver's arrays
}
