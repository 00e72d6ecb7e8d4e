package reports

import (
	"strconv"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/results"
)

// A footer is lines of small print: the machine and the geometry.
type footer struct {
	style text.Style
	lines []string
}

func (d *data) footer() footer {
	f := footer{style: d.look.mark(), lines: strings.Split(machine(d.config), "\n")}
	f.style.Font.Size = footerSize
	f.style.YAlign = draw.YBottom
	return f
}

// leading is the distance between two lines of a footer.
const leading = footerSize * 1.3

// height is what the footer takes, with the room above it.
func (f footer) height() vg.Length { return leading*vg.Length(len(f.lines)) + 5 }

// draw draws the lines at the bottom of c.
func (f footer) draw(c draw.Canvas) {
	for i, line := range f.lines {
		y := c.Min.Y + leading*vg.Length(len(f.lines)-1-i)
		c.FillText(f.style, vg.Point{X: c.Min.X, Y: y}, fit(f.style, line, c.Size().X))
	}
}

// fit cuts words that are wider than there is room for.
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

// machine says in two lines what was measured on and what was simulated.
func machine(config map[string]string) string {
	known := func(parts ...string) string {
		var all []string
		for _, p := range parts {
			if p != "" {
				all = append(all, results.Printable(p))
			}
		}
		return strings.Join(all, ", ")
	}
	cpus := config["cpus"]
	if cpus != "" {
		cpus += " CPUs"
	}
	platform := config["goos"] + "/" + config["goarch"]
	if platform == "/" {
		platform = ""
	}
	measured := known(config["cpu"], cpus, platform, config["goversion"], geometries(config["caches"]))
	simulated := known(geometries("D1="+config["sim-d1"]+" LL="+config["sim-ll"]), tlbs(config["sim-tlb"]))
	if measured == "" {
		measured = "a machine unknown"
	}
	if simulated == "" {
		simulated = "caches unknown"
	}
	return "Measured on: " + measured + ".\nSimulated: " + simulated + "."
}

// tlbs says "64,4,4096" as "TLB 64 x 4 KiB".
func tlbs(levels string) string {
	var all []string
	for level := range strings.FieldsSeq(levels) {
		part := strings.Split(level, ",")
		page, err := strconv.Atoi(part[len(part)-1])
		if len(part) == 3 && err == nil && page > 0 && len(all) < maxMarks {
			all = append(all, part[0]+" x "+results.Bytes(page))
		}
	}
	if all == nil {
		return ""
	}
	return "TLB " + strings.Join(all, " and ")
}

// geometryLine is the line size of a geometry "32768,8,64", 0 if it is malformed.
func geometryLine(geometry string) int {
	part := strings.Split(geometry, ",")
	line, err := strconv.Atoi(part[len(part)-1])
	if len(part) != 3 || err != nil || line < 0 {
		return 0
	}
	return line
}

// geometries says "L1d=32768,8,64" as "L1d 32 KiB 8-way 64 B", and leaves out
// what is malformed.
func geometries(caches string) string {
	var all []string
	for field := range strings.FieldsSeq(caches) {
		name, geometry, _ := strings.Cut(field, "=")
		part := strings.Split(geometry, ",")
		size, err := strconv.Atoi(part[0])
		if len(part) != 3 || err != nil || size <= 0 || name == "L1i" {
			continue
		}
		all = append(all, name+" "+results.Bytes(size)+" "+part[1]+"-way "+part[2]+" B")
	}
	return strings.Join(all, ", ")
}
