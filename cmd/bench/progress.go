package main

import (
	"io"
	"os"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// A progress is a bar on stderr, where that is a terminal and the results do
// not scroll by on one themselves. It is redrawn when a sample is done and at
// no other time: drawing must not run beside a measurement.
type progress struct {
	bar     *mpb.Bar
	bars    *mpb.Progress
	refresh chan any
}

// newProgress counts to a total; the counts are shown in a format such as "%d of
// %d samples ".
func newProgress(c call, total int, counts string) *progress {
	if !isTerminal(c.err) || isTerminal(c.out) {
		return &progress{}
	}
	p := &progress{refresh: make(chan any)}
	p.bars = mpb.New(mpb.WithOutput(c.err), mpb.WithManualRefresh(p.refresh), mpb.WithWidth(50))
	p.bar = p.bars.AddBar(int64(total),
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.CountersNoUnit(counts)),
		mpb.AppendDecorators(decor.Percentage()))
	return p
}

func isTerminal(w io.Writer) bool {
	if o, ok := w.(*output); ok {
		w = o.w
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// step counts one sample.
func (p *progress) step() {
	if p.bar != nil {
		p.bar.Increment()
		p.refresh <- nil
	}
}

// end takes the bar away.
func (p *progress) end() {
	if p.bar != nil {
		p.bar.Abort(true)
		p.bars.Wait()
	}
}
