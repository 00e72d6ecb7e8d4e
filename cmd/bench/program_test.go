package main

import (
	"bufio"
	"io"
	"testing"
	"time"
)

// TestPatience: what goes on for long says so, more than once.
func TestPatience(t *testing.T) {
	reader, writer := io.Pipe()
	stop := patience(call{err: writer}, 2*time.Millisecond, func() float64 { return .125 })
	lines := bufio.NewReader(reader)
	for _, want := range []string{"2ms", "4ms"} {
		line, err := lines.ReadString('\n')
		if want = "note: after " + want + ", 12.5% of the iterations of the outermost loops are counted, which may differ in what they take; Ctrl-C ends it\n"; err != nil || line != want {
			t.Errorf("%q, %v, want %q", line, err, want)
		}
	}
	reader.Close()
	stop()
}
