package main

import (
	"bufio"
	"io"
	"sync/atomic"
	"testing"
	"time"
)

// TestPatience: what goes on for long says so, more than once.
func TestPatience(t *testing.T) {
	reader, writer := io.Pipe()
	var calls atomic.Int32
	shares := []float64{.0001, .125}
	stop := patience(call{err: writer}, 2*time.Millisecond, "references", func() float64 { return shares[min(calls.Add(1), 2)-1] })
	lines := bufio.NewReader(reader)
	for _, want := range []string{"2ms, less than 0.1%", "4ms, 12.5%"} {
		line, err := lines.ReadString('\n')
		if want = "note: after " + want + " of the references are counted; others may take longer; Ctrl-C ends it\n"; err != nil || line != want {
			t.Errorf("%q, %v, want %q", line, err, want)
		}
	}
	reader.Close()
	stop()
}
