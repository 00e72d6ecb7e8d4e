package reports

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/show"
)

// missesUnit counts the misses of a cache that the name gives.
const missesUnit = "misses/op"

// grouped collects points into at most as many series as hues.
func (d *data) grouped(take func(results.Row) (name string, q point, ok bool)) []series {
	var all []series
	at := map[string]int{}
	for _, r := range d.rows {
		name, q, ok := take(r)
		if !ok {
			continue
		}
		i, known := at[name]
		if !known {
			if i = len(all); i == len(d.look.hues) {
				continue
			}
			at[name] = i
			all = append(all, series{name: name, hue: d.look.hues[i]})
		}
		all[i].points = append(all[i].points, q)
	}
	return all
}

// setMisses draws the misses of each set of D1, for padded and unpadded rows.
func setMisses(d *data) (*figure, error) {
	columns, shape := "", ""
	all := d.grouped(func(r results.Row) (string, point, bool) {
		set, err := strconv.Atoi(r.Key("set"))
		s, ok := r.Stats[d1Unit]
		if r.Family() != "Sets" || err != nil || set < 0 || set > 1<<20 || !ok ||
			!(s.Center >= 0 && s.Center < 1e30) {
			return "", point{}, false
		}
		columns, shape = r.Key("columns"), r.Key("shape")
		name := "rows padded by " + short(r.Key("pad"), 8) + " elements"
		if r.Key("pad") == "0" {
			name = "rows not padded"
		}
		return name, exactly(float64(set), s.Center), true
	})
	_, high, ok := span(all)
	if !ok {
		return nil, nil
	}
	_, last := across(pointsOf(all...))
	p := d.look.newPanel("set of D1", "misses per pass")
	linearAxis(&p.X, -1, last+1)
	linearAxis(&p.Y, 0, max(high, 1)*1.1)
	f := &figure{title: fmt.Sprintf("Summing %s columns of a %s matrix: misses by cache set",
		short(columns, 8), short(shape, 16)),
		sentence: setSentence(all), alt: "Stems: misses of each set of the first cache: " +
			named(all...),
		height: 2.9 * vg.Inch, panels: []*panel{p}}
	for i, s := range all {
		st := stems{s, float64(i) - float64(len(all)-1)/2}
		p.Add(st)
		f.explain(fmt.Sprintf("%s: %.0f misses", s.name, s.sum()), st)
	}
	f.explain("simulated, exact")
	return f, nil
}

type stems struct {
	series
	beside float64 // offset from other series, in stems
}

// Plot implements plot.Plotter.
func (s stems) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	line := draw.LineStyle{Color: s.hue.color, Width: 1.6}
	for _, q := range s.points {
		x := toX(q.x) + vg.Length(s.beside*2)
		c.StrokeLine2(line, x, toY(0), x, toY(q.y))
		if q.y > 0 {
			c.DrawGlyph(draw.GlyphStyle{Color: s.hue.color, Radius: 2.4, Shape: s.hue.glyph},
				vg.Point{X: x, Y: toY(q.y)})
		}
	}
}

// Thumbnail implements plot.Thumbnailer.
func (s stems) Thumbnail(c *draw.Canvas) {
	at := c.Center()
	c.StrokeLine2(draw.LineStyle{Color: s.hue.color, Width: 1.6}, at.X, c.Min.Y, at.X, at.Y+2)
	c.DrawGlyph(draw.GlyphStyle{Color: s.hue.color, Radius: 3, Shape: s.hue.glyph},
		vg.Point{X: at.X, Y: at.Y + 2})
}

func across(points []point) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, q := range points {
		least, most = min(least, q.x), max(most, q.x)
	}
	return least, most
}

func (s series) sum() (sum float64) {
	for _, q := range s.points {
		sum += q.y
	}
	return sum
}

func setSentence(all []series) string {
	var said []string
	for _, s := range all {
		hit := 0
		for _, q := range s.points {
			if q.y > 0 {
				hit++
			}
		}
		said = append(said, fmt.Sprintf("%s: %.0f, in %d of %d sets", s.name, s.sum(), hit,
			len(s.points)))
	}
	return "Misses per pass with " + strings.Join(said, "; with ") + "."
}

func missRatio(d *data) (*figure, error) {
	shape := ""
	all := d.grouped(func(r results.Row) (string, point, bool) {
		size := r.Bytes("capacity")
		q, ok := missRate(r, missesUnit)
		if r.Family() != "MissRatio" || size == 0 || !ok {
			return "", point{}, false
		}
		shape = r.Key("shape")
		q.x = float64(size)
		name := map[string]string{"row": "by rows", "col": "by columns"}[r.Key("order")]
		if tile := r.Key("tile"); tile != "" {
			name += ", tile " + short(tile, 8)
		}
		return name, q, true
	})
	if len(all) == 0 {
		return nil, nil
	}
	p := d.look.newPanel("capacity of a fully associative LRU cache", "misses, % of all references")
	byteAxis(&p.X, pointsOf(all...))
	percentAxis(&p.Y)
	p.Add(d.look.marks(d.cpuCaches))
	for i := range all {
		all[i].dashed = i > 1
	}
	f := &figure{title: fmt.Sprintf("Summing a %s matrix: miss ratio by cache capacity",
		short(shape, 16)), sentence: ratioSentence(all),
		alt: "Lines: misses as a share of all references, against the capacity of the cache: " +
			named(all...),
		height: 3.2 * vg.Inch, panels: []*panel{p}}
	f.tellMarks(d.cpuCaches, p.X.Min, p.X.Max)
	f.explain("simulated, exact")
	return f, d.look.addSeries(f, p, all...)
}

// ratioSentence names the capacity from which an order misses at most the first 8-byte element of
// each line of 64 B.
func ratioSentence(all []series) string {
	var words []string
	for _, s := range all {
		sortByX(s.points)
		for _, q := range s.points {
			if q.y <= 12.5 {
				words = append(words, fmt.Sprintf("%s %s", show.Bytes(int(q.x)), s.name))
				break
			}
		}
	}
	if words == nil {
		return "In every order, more than 12.5% of all references miss at every capacity."
	}
	return "Capacity from which on at most 12.5% of all references miss: " +
		strings.Join(words, "; ") + "."
}
