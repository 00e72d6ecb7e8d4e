package progress

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// A log is written by a timer, too.
type log struct {
	mutex sync.Mutex
	text  strings.Builder
}

func (l *log) Write(text []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(text)
}

func (l *log) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

// TestLines: where there is no terminal, a phase that takes a while is a line, and another one with
// how far it is when it took twice as long, whether or not it has steps; what is timed is told of
// at a step and at no other time, and what is over sooner is not told of.
func TestLines(t *testing.T) {
	var l log
	m := New(&l)
	m.until = time.Millisecond
	m.Timed("timing", 3)
	time.Sleep(20 * time.Millisecond)
	if got := l.String(); got != "" {
		t.Errorf("beside a measurement it writes %q", got)
	}
	m.Step(1)
	m.Step(1)
	m.Phase("counting", 0)
	again := "bench: counting: 0s\n"
	for !strings.Contains(l.String(), again) { // however late its timer is
		time.Sleep(time.Millisecond)
	}
	m.until = time.Hour
	m.Phase("quick", 1)
	m.Step(1)
	m.End()
	m.End()
	m.Step(1)
	if got := l.String(); strings.ReplaceAll(got, again,
		"") != "bench: timing\nbench: counting\n" ||
		!strings.Contains(got, "bench: counting\n"+again) || strings.Count(got, again) > 12 {
		t.Errorf("it writes %q", got)
	}
}

// TestReading: the steps of reading are bytes, and none shows nothing.
func TestReading(t *testing.T) {
	var l log
	m := New(&l)
	r := m.Reading("reading", strings.NewReader("12345"))
	if n, err := r.Read(make([]byte, 3)); n != 3 || err != nil || m.phase.done != 3 ||
		m.phase.total != 0 {
		t.Errorf("%d, %v, %+v", n, err, m.phase)
	}
	if what := Clear(); what != "reading" {
		t.Errorf("it was %q", what)
	}
	if m.phase != nil {
		t.Error("a phase goes on")
	}
	var none *Meter
	none.Phase("nothing", 1)
	none.Step(1)
	none.End()
}

// TestLeft: what is left is told once a step is done.
func TestLeft(t *testing.T) {
	for _, test := range []struct {
		passed      time.Duration
		done, total int64
		want        string
	}{
		{3 * time.Second, 0, 10, "3s"}, {3 * time.Second, 1, 4, "25% 9s left"},
		{90 * time.Second, 1, 1000, "0% 24h58m30s left"}, {time.Second, 4, 4, "100% 0s left"},
		{time.Second, 5, 4, "100% 0s left"},
	} {
		if got := left(test.passed, test.done, test.total); got != test.want {
			t.Errorf("%d of %d in %v: %q, want %q", test.done, test.total, test.passed,
				got, test.want)
		}
	}
}
