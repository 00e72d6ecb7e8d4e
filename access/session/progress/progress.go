// Package progress is the program's own and promises nothing. It shows how far a command is, phase
// by phase.
package progress

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// untilBar is how long a phase takes before a terminal shows it.
const untilBar = 300 * time.Millisecond

// LineAfter is how long a phase takes before a Meter without a terminal writes a line. Tests of a
// command's output set it to longer than they take.
var LineAfter = 10 * time.Second

// Plain makes Meters write lines to terminals too, for TERM=dumb.
var Plain bool

// A Meter shows the phases of a command. On a terminal, a phase is a bar with the estimated time
// left, removed at its end. Elsewhere, a phase longer than LineAfter is a line, and another with
// its progress each time its duration doubles. A nil Meter shows nothing. Methods may be called
// concurrently.
type Meter struct {
	w        io.Writer
	terminal bool
	until    time.Duration

	mutex sync.Mutex
	phase *phase // nil between phases
}

type phase struct {
	what        string
	total, done int // steps; total is 0 if unknown
	timed       bool
	start       time.Time
	shown       bool
	timer       *time.Timer
	bar         *mpb.Bar
	bars        *mpb.Progress
	refresh     chan any
}

// New returns a Meter that writes to w.
func New(w io.Writer) *Meter {
	if Bars(w) {
		return &Meter{w: w, terminal: true, until: untilBar}
	}
	return &Meter{w: w, until: LineAfter}
}

// Terminal reports whether w, or the writer that it unwraps to, is a terminal.
func Terminal(w io.Writer) bool { return file(w) != nil }

// Bars reports whether a Meter that writes to w shows bars.
func Bars(w io.Writer) bool { return width(w) > 0 && !Plain }

// Width returns a terminal's width in characters, or 80 if unknown.
func Width(w io.Writer) int { return cmp.Or(width(w), 80) }

// width returns 0 if unknown.
func width(w io.Writer) int {
	if f := file(w); f != nil {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}

func file(w io.Writer) *os.File {
	if o, ok := w.(interface{ Unwrap() io.Writer }); ok {
		w = o.Unwrap()
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

var live sync.Map

// Clear removes all meters from the terminal before the program exits. It returns the name of a
// phase in progress, or "".
func Clear() (what string) {
	live.Range(func(m, doing any) bool {
		m.(*Meter).End()
		what = doing.(string)
		return true
	})
	return what
}

// Phase ends the current phase and begins one of steps steps, 0 if unknown.
func (m *Meter) Phase(what string, steps int) { m.begin(what, steps, false) }

// Timed is Phase for a measurement. Only Step draws the phase, so drawing never overlaps timing.
func (m *Meter) Timed(what string, steps int) { m.begin(what, steps, true) }

// Begin begins a phase, and returns a function that reports a step.
func (m *Meter) Begin(what string, steps int) (step func()) {
	m.Phase(what, steps)
	return func() { m.Step(1) }
}

// Shares returns a function that reports which share of a phase of this many steps is done.
func (m *Meter) Shares(steps int) func(share float64) {
	done := 0
	return func(share float64) {
		next := int(share * float64(steps))
		m.Step(next - done)
		done = next
	}
}

// Reading begins a phase whose steps are the bytes read from r.
func (m *Meter) Reading(what string, r io.Reader) io.Reader {
	size := 0
	if f, ok := r.(*os.File); ok {
		size = SizeOf(f.Name())
	}
	m.Phase(what, size)
	return io.TeeReader(r, bytesOf{m})
}

// SizeOf returns the total size in bytes, or 0 if a path is not a regular file.
func SizeOf(paths ...string) int {
	size := 0
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return 0
		}
		size += int(info.Size())
	}
	return size
}

// Writing begins a phase whose steps are the bytes written to w, about size.
func (m *Meter) Writing(what string, size int, w io.Writer) io.Writer {
	m.Phase(what, size)
	return io.MultiWriter(w, bytesOf{m})
}

// A bytesOf meter takes a step for each byte that is written to it.
type bytesOf struct{ m *Meter }

// Write implements io.Writer.
func (b bytesOf) Write(text []byte) (int, error) {
	b.m.Step(len(text))
	return len(text), nil
}

// Step reports that steps more steps are done.
func (m *Meter) Step(steps int) {
	if m == nil {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	p := m.phase
	if p == nil {
		return
	}
	p.done += steps
	if p.timed && !p.shown && time.Since(p.start) > m.until {
		m.show(p)
	}
	if p.bar == nil {
		return
	}
	p.bar.SetCurrent(int64(p.done))
	p.draw()
}

func (p *phase) draw() {
	if !p.timed {
		return
	}
	select {
	case p.refresh <- nil:
	case <-time.After(time.Second):
	}
}

// End ends the phase.
func (m *Meter) End() {
	if m == nil {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.phase != nil {
		m.phase.end(m)
		m.phase = nil
		live.Delete(m)
	}
}

func (m *Meter) begin(what string, steps int, timed bool) {
	if m == nil {
		return
	}
	m.End()
	m.mutex.Lock()
	defer m.mutex.Unlock()
	p := &phase{what: what, total: steps, timed: timed, start: time.Now()}
	m.phase = p
	live.Store(m, what)
	if !timed {
		p.timer = time.AfterFunc(m.until, func() {
			m.mutex.Lock()
			defer m.mutex.Unlock()
			switch {
			case m.phase != p:
			case !p.shown:
				m.show(p)
			default: // without a terminal: a line each time the duration doubles
				fmt.Fprintf(m.w, "bench: %s: %s\n", p.what,
					left(time.Since(p.start), int64(p.done), int64(p.total)))
			}
			if m.phase == p && !m.terminal {
				p.timer.Reset(time.Since(p.start))
			}
		})
	}
}

func (m *Meter) show(p *phase) {
	p.shown = true
	if !m.terminal {
		fmt.Fprintf(m.w, "bench: %s\n", p.what) // a failure has nowhere to be reported
		return
	}
	options := []mpb.ContainerOption{mpb.WithOutput(m.w), mpb.WithWidth(40)}
	if p.timed {
		p.refresh = make(chan any)
		options = append(options, mpb.WithManualRefresh(p.refresh))
	}
	p.bars = mpb.New(options...)
	if p.total == 0 {
		p.bar = p.bars.MustAdd(math.MaxInt64, nil, mpb.PrependDecorators(decor.Name(p.what+" "),
			decor.NewElapsed(decor.ET_STYLE_GO, p.start)))
		return
	}
	p.bar = p.bars.AddBar(int64(p.total), mpb.BarOptional(mpb.BarRemoveOnComplete(), !p.timed),
		mpb.PrependDecorators(decor.Name(p.what+" ")),
		mpb.AppendDecorators(decor.Any(func(s decor.Statistics) string {
			return left(time.Since(p.start), s.Current, s.Total)
		})))
	p.bar.SetCurrent(int64(p.done))
	p.draw()
}

// left estimates the time left. Before the first step it returns the time passed.
func left(passed time.Duration, done, total int64) string {
	if done <= 0 || total <= 0 {
		return passed.Round(time.Second).String()
	}
	share := min(float64(done)/float64(total), 1)
	return fmt.Sprintf("%.0f%% %v left", 100*share,
		time.Duration(float64(passed)*(1-share)/share).Round(time.Second))
}

func (p *phase) end(m *Meter) {
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.bar == nil {
		return
	}
	fmt.Fprint(m.w, "\r") // Ctrl-C is echoed, and clearing starts at the cursor
	p.bar.Abort(true)
	p.bars.Wait()
	if p.timed {
		fmt.Fprint(m.w, "\x1b[1A\x1b[J")
	}
}
