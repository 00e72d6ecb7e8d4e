package reports

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/show"
)

// A footer is lines of small print: the machine and the geometry.
type footer struct {
	style text.Style
	lines []string
}

func (d *data) footer() footer { return d.look.footer(d.machine()) }

func (s *style) footer(text string) footer {
	f := footer{style: s.mark()}
	f.style.Font.Size = footerSize
	f.style.YAlign = draw.YBottom
	for line := range strings.SplitSeq(text, "\n") {
		f.lines = append(f.lines, wrap(f.style, line, figureWidth-2*margin)...)
	}
	return f
}

// wrap breaks words into at most maxLines lines. Only the last may be too wide; draw cuts it.
func wrap(style text.Style, words string, width vg.Length) (lines []string) {
	const maxLines = 4
	line := ""
	for word := range strings.FieldsSeq(words) {
		longer := strings.TrimSpace(line + " " + word)
		if line != "" && len(lines) < maxLines-1 && style.Width(longer) > width {
			lines, longer = append(lines, line), word
		}
		line = longer
	}
	return append(lines, line)
}

const leading = footerSize * 1.3

// height includes the room above the footer.
func (f footer) height() vg.Length { return leading*vg.Length(len(f.lines)) + 5 }

func (f footer) draw(c draw.Canvas) {
	for i, line := range f.lines {
		y := c.Min.Y + leading*vg.Length(len(f.lines)-1-i)
		c.FillText(f.style, vg.Point{X: c.Min.X, Y: y}, fit(f.style, line, c.Size().X))
	}
}

func fit(style text.Style, words string, width vg.Length) string {
	if style.Width(words) <= width {
		return words
	}
	runes := []rune(words)
	for n := min(len(runes), 400); n > 0; n-- {
		if cut := string(runes[:n]) + "…"; style.Width(cut) <= width {
			return cut
		}
	}
	return ""
}

// machine describes the measured and the simulated machine. A third line reports a last level that
// serves far less than the CPU states.
func (d *data) machine() string {
	if len(d.rows) == 0 && len(d.swept) > 0 {
		return "Measured on: nothing was measured.\nSimulated: the named caches, exactly."
	}
	s := d.setup
	known := func(parts ...string) string {
		var all []string
		for _, p := range parts {
			if p != "" {
				all = append(all, show.Printable(p))
			}
		}
		return strings.Join(all, ", ")
	}
	cpus := ""
	if s.CPUs > 0 {
		cpus = fmt.Sprintf("%d CPUs", s.CPUs)
	}
	platform := s.GOOS + "/" + s.GOARCH
	if platform == "/" {
		platform = ""
	}
	measured := known(s.CPU, cpus, platform, s.GoVersion, geometries(s.Caches...))
	simulated := known(geometries(s.D1, s.LL), tlbs(s.TLB))
	if measured == "" {
		measured = "unknown machine"
	}
	if simulated == "" {
		simulated = "unknown caches"
	}
	text := "Measured on: " + measured + ".\nSimulated: " + simulated + "."
	if d.served != nil {
		text += "\n" + d.served.String() + "."
	}
	return text
}

func geometries(caches ...results.Cache) string {
	var all []string
	for _, c := range dataCaches(caches) {
		all = append(all, fmt.Sprintf("%s %s %d-way %d B", c.Name, show.Bytes(c.Size),
			c.Ways, c.Line))
	}
	return strings.Join(all, ", ")
}

func tlbs(levels []results.TLB) string {
	var all []string
	for _, l := range levels {
		all = append(all, fmt.Sprintf("%d x %s", l.Entries, show.Bytes(l.Page)))
	}
	if all == nil {
		return ""
	}
	return "TLB " + strings.Join(all, " and ")
}
