// Package compiled is the program's own and promises nothing. It runs programs and reports the
// accesses that their machine code makes.
//
// [Command] builds a program: the compiler puts a call before every load and store, as for its race
// detector (-fsanitize=thread), and our runtime replaces the detector's. So the compiler decides
// which accesses are made: scalars in registers make none. The accesses arrive in order through
// shared memory, at a few nanoseconds each. Each is named by its line and function (DWARF) and by
// its object: a global variable, the line that allocated the memory, or the stack.
//
// Accesses of libraries are not reported, except memset, memcpy and memmove, which count as
// accesses of 16 B.
package compiled

import (
	"fmt"
	"io"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
)

// A Place is where the source makes an access, with the innermost function, inlined or not. File is
// "" for code without a line.
type Place struct {
	Function string
	File     string
	Line     int
}

// A Source is the accesses of one kind from one place to one object.
type Source struct {
	Kind   nest.Kind
	Place  Place
	Object string // "a", "heap of a.c:12", "stack"
}

// A Sink counts accesses in their order.
type Sink interface {
	// New returns the number of a new source.
	New(Source) int
	// Accesses receives the next accesses. The slice is reused after the call.
	Accesses([]simcache.Reference)
}

// An Outcome is how a run ended.
type Outcome struct {
	Calls   uint64 // of the function
	Code    int
	Signal  string // that ended it, or ""
	Stopped string // why reporting stopped early, or ""
	Forked  bool   // child processes ran; their accesses are not reported
	Moved   bool   // addresses differ from run to run: the kernel would not fix them
	Said    string // the last line on its stderr
}

// Fault describes how the program failed, or is "".
func (o Outcome) Fault() string {
	said := ""
	if o.Said != "" {
		said = fmt.Sprintf(" (%s)", o.Said)
	}
	switch {
	case o.Stopped != "":
		return o.Stopped
	case o.Signal != "":
		return fmt.Sprintf("a signal ended it: %s%s", o.Signal, said)
	case o.Code != 0:
		return fmt.Sprintf("it exited with %d%s", o.Code, said)
	}
	return ""
}

// Notes returns what to know of the counts of passes. Where arrays are arranged, each pass is a
// call.
func (o Outcome) Notes(of Options, passes int) (notes []string) {
	if of.First > o.Calls {
		notes = append(notes, fmt.Sprintf("%s is called %d times, so that no call is counted",
			of.Function, o.Calls))
	}
	if of.Arrange.Align > 0 && o.Calls > uint64(passes) {
		notes = append(notes, fmt.Sprintf("main calls %s %d times, which are counted together; "+
			"affine loops are counted once", of.Function, o.Calls))
	}
	if o.Moved {
		notes = append(notes, "the kernel does not fix its addresses, so that counts may differ "+
			"from run to run")
	}
	if o.Forked {
		notes = append(notes, "it starts other processes, whose accesses are not counted")
	}
	return notes
}

// Options select a run and what it reports.
type Options struct {
	Args        []string // after the program's name
	Stdin       io.Reader
	Environment []string // NAME=VALUE; it lies above the stack, so it moves addresses
	Function    string   // report its accesses and its callees'; "" is all
	First, Last uint64   // report these calls of Function, from 1; 0, 0 is all
	Region      Region   // replaces Function if it has lines
	Arrange     Arrangement
}

// A Region is the lines of a file whose accesses are reported, with their callees'.
type Region struct {
	File     string // base name
	From, To int
}

// An Arrangement places arrays as package csource does: the file's in declaration order, then a
// [Driver]'s, at multiples of Align from Origin. Accesses to the file's other variables are not
// reported. If Align is 0, arrays stay where they are.
type Arrangement struct {
	Origin, Align uint64
	Parameters    []string // names of the driver's arrays
}
