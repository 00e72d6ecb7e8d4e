package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/stridebench/stridebench/results/show"
)

// enough is the share of the best bandwidth that makes a knee.
const enough = 0.9

// held is the largest share of a level that a working set served by it may take.
const held = 0.75

// A scaling is bandwidth by threads, of a working set that one level serves.
type scaling struct {
	level string // "L2", or "memory"
	bytes int
	series
}

// knee is not found if only the most threads have enough bandwidth.
func (s scaling) knee() (q point, found bool) {
	best := slices.MaxFunc(s.points, func(a, b point) int { return cmp.Compare(a.y, b.y) })
	for _, q := range s.points {
		if q.y >= enough*best.y {
			return q, q.x < s.points[len(s.points)-1].x
		}
	}
	return point{}, false
}

// scalings returns vector sums of contiguous matrices, one working set for each level. For a cache
// it is the largest that three quarters hold. For memory it is the largest beyond all caches.
func (d *data) scalings() (all []scaling) {
	sets := map[int][]point{}
	for _, r := range d.threaded {
		threads := number(r, "threads")
		n, isSquare := square(r.Key("shape"))
		bytes := n * n * elementSize(r.Key("dtype"))
		if r.Family() != "Stream" || r.Key("op") != "sum" || vectorKernel(r) == "" || !isSquare ||
			threads == 0 || bytes == 0 || !drawable(r.Stats[bandwidthUnit]) {
			continue
		}
		q := gibPerSecond(r)
		q.x = float64(threads)
		d.shows(r)
		// of another grain, or kernel
		if !slices.ContainsFunc(sets[bytes], func(p point) bool { return p.x == q.x }) {
			sets[bytes] = append(sets[bytes], q)
		}
	}
	levels, beyond := d.levels()
	chosen := make([]int, len(levels)+1)
	for bytes, points := range sets {
		level := slices.IndexFunc(levels, func(m mark) bool { return float64(bytes) <= m.at })
		served := level >= 0 && float64(bytes) <= held*levels[max(level, 0)].at
		if level < 0 && float64(bytes) >= beyond {
			level, served = len(levels), true
		}
		if served && len(points) > 1 { // a line
			chosen[level] = max(chosen[level], bytes)
		}
	}
	for level, bytes := range chosen {
		if bytes == 0 || len(all) == len(d.look.hues) {
			continue
		}
		s := scaling{level: "memory", bytes: bytes}
		if level < len(levels) {
			s.level, _, _ = strings.Cut(levels[level].label, " ")
		}
		s.series = series{name: show.Bytes(bytes) + " in " + s.level,
			hue: d.look.hues[len(all)], points: sets[bytes]}
		sortByX(s.points)
		all = append(all, s)
	}
	return all
}

// levels returns the capacities of the caches. The last level gets the capacity that latencies
// show, if that is far below the stated one. Else it gets the measured size, if the file simulated
// that. Memory serves from beyond bytes on.
func (d *data) levels() (levels []mark, beyond float64) {
	levels = slices.Clone(d.cpuCaches)
	if d.served != nil {
		for i := range levels {
			if levels[i].at == float64(d.served.Cache.Size) {
				levels[i].at = float64(d.served.From)
			}
		}
		return levels, float64(d.served.To)
	}
	if last := len(levels) - 1; last > 0 && d.set.Comment("sim-ll-source") == "measured" {
		beyond = levels[last].at
		levels[last].at = min(beyond, float64(d.setup.LL.Size))
	}
	return levels, beyond
}

func threads(d *data) (*figure, error) {
	scalings := d.scalings()
	var all []series
	var knees []mark
	for _, s := range scalings {
		all = append(all, s.series)
		if q, found := s.knee(); found {
			knees = append(knees, mark{q.x, fmt.Sprintf("knee of %s: %s", s.level,
				counted(int(q.x), "thread")), true})
		}
	}
	low, high, ok := span(all)
	if !ok {
		return nil, nil
	}
	p := d.look.newPanel("threads, each on a CPU of its own", "GiB/s, read by all of them")
	numberAxis(&p.X, pointsOf(all...))
	logAxis(&p.Y, low/1.5, high*2.5, number6)
	p.Add(d.look.marks(knees))
	f := &figure{title: "Summing a matrix with several threads: bandwidth by threads",
		sentence: threadsSentence(scalings),
		alt:      "Lines: bandwidth of a sum against the number of threads: " + named(all...),
		height:   3.6 * vg.Inch, panels: []*panel{p}}
	if knees != nil {
		f.alt += ", with the knees named"
	}
	return f, d.look.addSeries(f, p, all...)
}

func counted(n int, what string) string { return show.Counted(n, what) }

func threadsSentence(all []scaling) string {
	var parts []string
	knees := ""
	for i, s := range all {
		first, last := s.points[0], s.points[len(s.points)-1]
		of := "one of " + s.name + " at"
		if i == 0 {
			of = "A matrix of " + s.name + " is read at"
		}
		text := fmt.Sprintf("%s %s GiB/s by %s and %s GiB/s by %d", of, digits(first.y),
			counted(int(first.x), "thread"), digits(last.y), int(last.x))
		if q, found := s.knee(); found {
			text += fmt.Sprintf(", with its knee at %s (%s GiB/s)", counted(int(q.x), "thread"),
				digits(q.y))
			knees = fmt.Sprintf(" A knee is the least number of threads with %.0f%% of the best "+
				"bandwidth.", 100*enough)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ") + "." + knees
}

func loaded(d *data) (*figure, error) {
	all := map[float64]point{} // by load, in percent
	size, streams := 0, ""
	for _, r := range d.rows {
		load, err := strconv.ParseFloat(r.Key("load"), 64)
		if r.Family() != "Loaded" || err != nil || !(load >= 0 && load <= 100) ||
			!drawable(r.Stats[passUnit]) || !drawable(r.Stats[bandwidthUnit]) {
			continue
		}
		if size == 0 {
			size, streams = r.Bytes("size"), r.Key("streams")
		}
		if r.Bytes("size") == size && r.Key("streams") == streams {
			q := interval(r.Stats[passUnit], 1e9)
			q.x = gibPerSecond(r).y
			all[load] = q
		}
	}
	if len(all) < 2 {
		return nil, nil
	}
	s := series{name: "pointer chase", hue: d.look.hues[0]}
	var shares []string
	most := 0.0
	for _, load := range slices.Sorted(maps.Keys(all)) {
		s.points, shares = append(s.points, all[load]), append(shares, digits(load)+"%")
		most = max(most, all[load].x)
	}
	_, high, _ := span([]series{s})
	p := d.look.newPanel("memory traffic, GiB/s", "ns per load")
	linearAxis(&p.X, 0, most*1.12)
	p.X.Min = -most / 30 // keeps the first point off the axis
	linearAxis(&p.Y, 0, high*1.15)
	first, last := s.points[0], s.points[len(s.points)-1]
	threads, _ := strconv.Atoi(streams)
	f := &figure{title: "Latency of memory under load",
		sentence: fmt.Sprintf("A load from %s takes %s ns at %s GiB/s of memory traffic, and %s "+
			"ns (%+.0f%%) at %s GiB/s, with %s.", show.Bytes(size), digits(first.y),
			digits(first.x), digits(last.y), 100*(last.y/first.y-1), digits(last.x),
			counted(threads, "other thread")),
		alt: "Line: ns per dependent load against memory traffic, a point for each share of " +
			"time in which other threads stream",
		height: 3.2 * vg.Inch, panels: []*panel{p}}
	f.explain("points: other threads stream " + strings.Join(shares, ", ") + " of the time")
	return f, d.look.addSeries(f, p, s)
}
