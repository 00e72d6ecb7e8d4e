package reports

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/show"
)

// The parts of the page, which loads nothing else.
var (
	//go:embed page/index.html
	pageText string
	//go:embed page/style.css
	pageStyle string
	//go:embed page/script.js
	pageScript string
)

// pageTemplate is parsed at its first use, since most commands make no page.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(
		template.FuncMap{"prose": prose}).Parse(pageText))
})

// unbroken matches flags and arrows, which browsers would break after a hyphen.
var unbroken = regexp.MustCompile(`--[a-z][-a-zA-Z0-9]{0,30}|-&gt;`)

// prose returns text whose lines do not break within a flag or an arrow.
func prose(text string) template.HTML {
	return template.HTML(unbroken.ReplaceAllString(template.HTMLEscapeString(text),
		`<span class="unbroken">$0</span>`))
}

// policy is a content security policy that allows only the page's own parts. Names from a
// stranger's file can add no script and no address.
func policy() string {
	hash := sha256.Sum256([]byte(pageScript))
	return "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(hash[:]) + "'; base-uri 'none'; form-action 'none'"
}

// The limits of the page. summary.md and the results have the rest.
const (
	maxRows   = 400 // of a family
	maxText   = 300 // characters of a name, a remark or a command
	maxShown  = 40  // warnings, commands and runs
	maxFamily = 60  // tables
)

// A picture is a chart for both themes, without title and footer, which the page adds.
type picture struct {
	light, dark   []byte
	width, height vg.Length
}

func (d *data) picture(m maker) (p picture, err error) {
	for _, t := range []struct {
		theme Theme
		svg   *[]byte
	}{{Light, &p.light}, {Dark, &p.dark}} {
		of := *d
		of.shown = map[string]bool{} // charts are rendered concurrently
		of.look = t.theme.style()
		f, err := m.draw(&of)
		if err != nil {
			return p, err
		}
		const edge = 8
		p.width, p.height = figureWidth, f.height+f.legendHeight(&of.look)+2*edge
		svg := vgsvg.New(p.width, p.height)
		all := draw.NewCanvas(svg, p.width, p.height)
		all.FillPolygon(of.look.paper, corners(all.Rectangle))
		f.draw(draw.Crop(all, margin, -margin, edge, -edge), &of.look)
		var text bytes.Buffer
		if _, err := svg.WriteTo(&text); err != nil {
			return p, err
		}
		*t.svg = finish(text.String(), f.title, f.alt, &of.look)
	}
	return p, nil
}

// A page is what the pages of reports, of fleets and of bills have.
type page struct {
	Title, CPU, Facts string
	Theme             Theme // "" for the reader's
	Policy            string
	Style             template.CSS
	Script            template.JS
	Machine           []string // lines of the head
	Findings          []string // without a figure
	Warnings          []string
	Answer            []pageFigure // what matters most
	Figures           []pageFigure
	Absent            []Absent
	Notes             []string // on the tables
	Tables            []table
	Config            []results.Pair
	Runs              []Run
	Commands          []string
	Told              bool // the commands come from the files
	Report            string
}

func (p page) html() ([]byte, error) {
	p.Policy, p.Style, p.Script = policy(), template.CSS(pageStyle), template.JS(pageScript)
	p.Warnings, p.Report = several(p.Warnings), clip(cmp.Or(p.Report, "bench report"))
	var b bytes.Buffer
	err := pageTemplate().Execute(&b, p)
	return b.Bytes(), err
}

func figureOf(c Chart, number int) pageFigure {
	return pageFigure{
		ID: "figure-" + c.Name, Number: number, Title: show.Printable(c.Title),
		Alt: show.Printable(c.Alt), Sentence: show.Printable(c.Sentence),
		Width: int(c.picture.width), Height: int(c.picture.height),
		Light: inlined(c.picture.light), Dark: inlined(c.picture.dark),
	}
}

type pageFigure struct {
	ID, Title, Alt, Sentence string
	Number, Width, Height    int
	Light, Dark              template.URL
}

func (r Report) page() ([]byte, error) {
	p := page{
		Title: "What the layouts cost", CPU: clip(r.setup.CPU), Facts: r.facts(), Theme: r.theme,
		Machine: strings.Split(r.Machine, "\n"), Warnings: r.Warnings, Absent: r.Absent,
		Tables: slices.Concat(r.changes(), tables(r.Rows, maxRows)), Config: r.settings(),
		Commands: several(r.Commands), Report: r.command,
	}
	if p.Told = len(p.Commands) > 0; !p.Told {
		p.Commands = []string{"bench run -o out/run.txt"}
	}
	for i, c := range r.Charts {
		p.Figures = append(p.Figures, figureOf(c, i+1))
	}
	p.Answer = answer(p.Figures)
	for _, run := range r.Runs[:min(len(r.Runs), maxShown)] {
		p.Runs = append(p.Runs, run.shown())
	}
	return p.html()
}

// matters ranks the charts: changes first, then gains from another order or layout.
var matters = []string{"trend", "compare", "traverse-time", "contiguous", "tiles",
	"copy-bandwidth", "miss-rates"}

func rank(chart string) int {
	if i := slices.Index(matters, chart); i >= 0 {
		return i
	}
	return len(matters)
}

func answer(figures []pageFigure) []pageFigure {
	figures = slices.Clone(figures)
	slices.SortStableFunc(figures, func(a, b pageFigure) int {
		return rank(strings.TrimPrefix(a.ID, "figure-")) - rank(strings.TrimPrefix(b.ID, "figure-"))
	})
	return figures[:min(len(figures), 3)]
}

// inlined returns a picture as the address of an image, which runs no script.
func inlined(svg []byte) template.URL {
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg))
}

// clip shortens a name, which may come from a stranger.
func clip(text string) string { return short(text, maxText) }

func several(texts []string) (shown []string) {
	for i, text := range texts {
		if i == maxShown {
			return append(shown, fmt.Sprintf("… and %d more", len(texts)-i))
		}
		shown = append(shown, clip(text))
	}
	return shown
}

func (r Report) facts() string {
	samples := 0
	for _, row := range r.Rows {
		samples += row.Stats[passUnit].N
	}
	facts := fmt.Sprintf("%s, %s of times", counted(len(r.Rows), "benchmark"),
		counted(samples, "sample"))
	var first, last string
	for _, run := range r.Runs {
		for _, c := range run.Comments {
			if at, err := time.Parse(time.RFC3339, c.Value); c.Key == "date" && err == nil {
				last = at.UTC().Format("2 January 2006, 15:04 UTC")
				first = cmp.Or(first, last)
			}
		}
	}
	switch {
	case first == "":
		return facts + "."
	case first == last:
		return facts + ", " + first + "."
	}
	return facts + ", " + first + " to " + last + "."
}

func (r Report) settings() (pairs []results.Pair) {
	for _, key := range slices.Sorted(maps.Keys(r.Config)) {
		if value := r.Config[key]; value != "" && len(pairs) < maxShown {
			pairs = append(pairs, results.Pair{Key: clip(key), Value: clip(value)})
		}
	}
	return pairs
}

// A Run is a file of results and its comments, in order.
type Run struct {
	File     string
	Comments []results.Pair
}

// shown omits comments that the page has elsewhere, and keys that repeat.
func (r Run) shown() Run {
	of := Run{File: clip(r.File)}
	times := map[string]int{"command": 2, "warning": 2}
	for _, c := range r.Comments {
		times[c.Key]++
	}
	for _, c := range r.Comments {
		if times[c.Key] == 1 && len(of.Comments) < maxShown {
			of.Comments = append(of.Comments, results.Pair{Key: clip(c.Key), Value: clip(c.Value)})
		}
	}
	return of
}

// digits formats a number to three digits, but without an exponent for large ones.
func digits(v float64) string {
	if a := math.Abs(v); a >= 999.5 && a < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
