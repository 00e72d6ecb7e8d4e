package session

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/noise"
	"github.com/stridebench/stridebench/results/show"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// TestFinish: what is doubtful of a run stands in its results as comments, is
// returned, and is read from the results again.
func TestFinish(t *testing.T) {
	var out strings.Builder
	writer, err := results.NewWriter(&out, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Write("X", 1, []results.Value{{Value: 1, Unit: "ns/op"}}); err != nil {
		t.Fatal(err)
	}
	r := Session{Plan: Plan{Counters: true}, report: report{note: "none of the CPU's: a test",
		unpinned: true, done: 20,
		start: time.Now().Add(-10000 * time.Second), timed: 8500 * time.Second,
		series: []noise.Series{{Name: "X"}}}}
	for i := range 20 {
		r.series[0].Times = append(r.series[0].Times, float64(100+3*i))
	}
	warnings, err := r.finish(writer)
	if err != nil {
		t.Fatal(err)
	}
	set, err := results.Parse("run.txt", []byte(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, c := range set.Comments["run.txt"] {
		kind, _, _ := strings.Cut(c.Value, ": ")
		kinds = append(kinds, c.Key+" "+kind)
		if c.Key == "warning" && !slices.Contains(warnings, c.Value) {
			t.Errorf("%q is not returned: %q", c.Value, warnings)
		}
	}
	want := regexp.MustCompile(`^overhead 15% of 10\d\d\d\.\d s outside samples, warning unpinned, warning drift$`)
	if got := strings.Join(kinds, ", "); !want.MatchString(got) {
		t.Errorf("comments %q, want %v", got, want)
	}
	if len(warnings) != 2 {
		t.Errorf("warnings are %q", warnings)
	}
}

// TestLastLevel: a run whose own ladder shows memory where the CPU states a cache says so.
func TestLastLevel(t *testing.T) {
	p := Plan{Count: 1, SampleTime: time.Microsecond, Comparisons: []access.Comparison{nil}}
	p.Caches = simcache.Config{Levels: simcache.TwoLevels(simcache.Geometry{Size: 32 << 10, Ways: 8,
		Line: 64}, simcache.Geometry{Size: 32 << 20, Ways: 16, Line: 64})}
	ns := map[string]float64{"16KiB": 1, "1MiB": 14, "2MiB": 15, "4MiB": 100, "8MiB": 120}
	for _, size := range []int{16 << 10, 1 << 20, 2 << 20, 4 << 20, 8 << 20} {
		name := "Latency/op=chase/size=" + strings.ReplaceAll(show.Bytes(size), " ", "")
		p.Comparisons[0] = append(p.Comparisons[0],
			access.Benchmark{Name: name, Spec: access.ChaseSpec(size/64, 64)})
	}
	s, err := p.Prepare()
	if err != nil {
		t.Fatal(err)
	}
	geometry := func(size int) simcache.Geometry {
		return simcache.Geometry{Size: size, Ways: 8, Line: 64}
	}
	s.detected = []cpu.Cache{{Geometry: geometry(32 << 10), Level: 1, Type: "Data"},
		{Geometry: geometry(512 << 10), Level: 2, Type: "Unified"},
		{Geometry: geometry(32 << 20), Level: 3, Type: "Unified"}}
	for _, b := range p.Comparisons[0] {
		_, size, _ := strings.Cut(b.Name, "size=")
		s.series = append(s.series, noise.Series{Name: b.Name,
			Times: []float64{ns[size] * float64(results.Row{Name: b.Name}.Bytes("size")/64)}})
	}
	told := slices.IndexFunc(s.Warnings(), func(w string) bool {
		return strings.HasPrefix(w, "last-level: L3, stated to hold 32 MiB, serves working sets "+
			"of up to about 2 MiB here, and memory serves 4 MiB and more")
	})
	if told < 0 {
		t.Errorf("warnings %q", s.Warnings())
	}
}
