package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/filter"
	"github.com/stridebench/stridebench/results/keys"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
)

func matrix(name string, n int) access.Benchmark {
	return access.Benchmark{Name: name, Spec: access.Spec{Op: access.Sum, Shape: []int{n, n},
		DType: layouts.Int32}}
}

// plan has two small benchmarks and a study.
func plan() session.Plan {
	d1, ll := simcache.Geometry{Size: 4 << 10, Ways: 4, Line: 64},
		simcache.Geometry{Size: 64 << 10, Ways: 8, Line: 64}
	return session.Plan{Comparisons: []access.Comparison{{matrix("A/n=8", 8),
		matrix("A/n=16", 16)}}, Studies: session.Studies()[:1],
		Caches: simcache.Config{Levels: simcache.TwoLevels(d1, ll)}, Count: 3,
		SampleTime: time.Microsecond}
}

func prepare(t *testing.T, p session.Plan) *session.Session {
	t.Helper()
	s, err := p.Prepare()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPrepare: what is wrong with a plan is an error that says where, before
// anything runs.
func TestPrepare(t *testing.T) {
	for want, change := range map[string]func(p *session.Plan){
		"count 0: want at least 1": func(p *session.Plan) { p.Count = 0 },
		"sample-time 0s: want more than 0 and at most 1m": func(p *session.Plan) {
			p.SampleTime = 0
		},
		"sample-time 2m0s: want more than 0 and at most 1m": func(p *session.Plan) {
			p.SampleTime = 2 * time.Minute
		},
		"D1 4096,4,63: ": func(
			p *session.Plan) {
			p.Caches.Levels[0].Line = 63
		},
		"pages Pages(9): no such pages": func(
			p *session.Plan) {
			p.Pages = 9
		},
		"A/n=8: dtype undefined: no such dtype": func(
			p *session.Plan) {
			p.Comparisons[0][0].Spec.DType = 99
		},
		"A/n=8: op Op(77): no such operation": func(
			p *session.Plan) {
			p.Comparisons[0][0].Spec.Op = 77
		},
		`"": a name of a benchmark is not empty`: func(
			p *session.Plan) {
			p.Comparisons[0][0].Name = ""
		},
		`"A\nb": a name of a benchmark is not empty`: func(
			p *session.Plan) {
			p.Comparisons[0][0].Name = "A\nb"
		},
		"A/n=16: it walks elements of int8, and A/n=8 of the same comparison of": func(
			p *session.Plan) {
			p.Comparisons[0][1].Spec.DType = layouts.Int8
		},
		"A/n=16: two benchmarks have this name": func(
			p *session.Plan) {
			p.Comparisons[0][0].Name = "A/n=16"
		},
		"A/n=8: pad -1: negative": func(
			p *session.Plan) {
			p.Comparisons[0][0].Spec.Pad = -1
		},
		"A/n=16: the view has no element to time": func(
			p *session.Plan) {
			p.Comparisons[0][1].Spec.Shape = []int{0}
		},
		"A/n=8: the tensors need 4 TiB of memory, this": func(
			p *session.Plan) {
			p.Comparisons[0][0].Spec.Shape = []int{1 << 20, 1 << 20}
		},
	} {
		p := plan()
		change(&p)
		_, err := p.Prepare()
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		b, ok := errors.AsType[*session.BenchmarkError](err)
		// it is this machine's fault
		here := strings.Contains(want, "no element") || strings.Contains(want, "memory")
		if of := strings.HasPrefix(want, "A/") || strings.HasPrefix(want, `"`); ok != of || ok &&
			b.Invalid == here {
			t.Errorf("%v is %+v", err, b)
		}
		if _, ofField := errors.AsType[*access.FieldError](err); ofField &&
			!ok != (strings.HasPrefix(want, "count") || strings.HasPrefix(want, "sample") ||
				strings.HasPrefix(want, "pages")) {
			t.Errorf("%v is %T", err, err)
		}
	}
}

// TestRun: each sample and each result of a study is a record, once.
func TestRun(t *testing.T) {
	s := prepare(t, plan())
	samples, studied := map[string]int{}, 0
	for r, err := range s.Run(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if has(r, "ns/op") != r.Sample || !has(r, "D1-misses/op") {
			t.Errorf("%+v", r)
		}
		if r.Sample {
			samples[r.Name]++
		} else {
			studied++
		}
	}
	if got := fmt.Sprint(samples); got != "map[A/n=16:3 A/n=8:3]" || studied != 16 {
		t.Errorf("samples %s, %d results of studies", got, studied)
	}
	for _, err := range s.Run(t.Context()) {
		if err == nil {
			t.Error("a session runs twice")
		}
	}
}

func has(r session.Record, unit string) bool {
	return slices.ContainsFunc(r.Values, func(v results.Value) bool { return v.Unit == unit })
}

// TestInterrupted: who ends a run early keeps what was finished, and the file says
// so.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := fmt.Errorf("a signal: %w", context.Canceled)
	p := plan()
	p.Count = 1000 // a burst of samples may come to its end first
	s := prepare(t, p)
	var file bytes.Buffer
	steps := 0
	records, _, err := s.Write(ctx, &file, &samples{each: func() {
		if steps++; steps == 2 {
			cancel(cause)
		}
	}})
	stop, ok := errors.AsType[session.Interrupted](err)
	if !ok || stop.Done < 2 || stop.Done == stop.Total || stop.Done != records ||
		stop.Total != 2000 || !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
	set, err := results.Parse("run.txt", file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if set.Comment("overhead") == "" {
		t.Error("nothing is said of the whole run")
	}
	if got := set.Comment("interrupted"); len(set.Results) != stop.Done ||
		got != fmt.Sprintf("after %d of 2000 samples", stop.Done) {
		t.Errorf("%d results of %v, interrupted %q", len(set.Results), stop, got)
	}
}

// TestUnwritten: results that cannot be written end the run with that error.
func TestUnwritten(t *testing.T) {
	full := errors.New("full")
	s := prepare(t, plan())
	records, _, err := s.Write(t.Context(), writer(func(text []byte) (int, error) {
		if bytes.HasPrefix(text, []byte("family:")) {
			return 0, full
		}
		return len(text), nil
	}), nil)
	if !errors.Is(err, full) || records != 0 {
		t.Errorf("%v, %d records", err, records)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(text []byte) (int, error) { return w(text) }

// TestTimesOnly: nothing is simulated, and no study made.
func TestTimesOnly(t *testing.T) {
	p := plan()
	p.TimesOnly = true
	for r, err := range prepare(t, p).Run(t.Context()) {
		if has(r, "D-refs/op") || !r.Sample || err != nil {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// TestBaseline: of a baseline, the session is expected to give what both have, may
// be cut to that, and leaves out what of the whole suite it lacks.
func TestBaseline(t *testing.T) {
	study := session.Studies()[0] + "/set=0/kernel=scalar"
	text := "BenchmarkA/n=8 1 5 ns/op 7 D1-misses/op\nBenchmarkB/n=1 1 5 ns/op\nBenchmarkElse 1 " +
		"5 ns/op\nBenchmark" + study + " 1 3 D1-misses/op\n"
	old, err := results.Parse("old.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s := prepare(t, plan())
	expected, err := s.Expected(old, []access.Comparison{{matrix("A/n=8", 8), matrix("B/n=1", 1)}})
	if err != nil {
		t.Fatal(err)
	}
	if len(old.Results) != 3 || old.Names()["B/n=1"] || !old.Names()["Else"] {
		t.Errorf("%v stays", old.Names())
	}
	new, err := results.Parse("expected", expected)
	if err != nil {
		t.Fatal(err)
	}
	if got := new.Names(); len(got) != 3 || !got["A/n=8"] || !got["A/n=16"] || !got[study] {
		t.Errorf("expected is %v", got)
	}
	s.Only(old.Names())
	if len(s.Comparisons) != 1 || len(s.Comparisons[0]) != 1 || len(s.Studies) != 1 {
		t.Errorf("%v and %d studies are left", s.Comparisons, len(s.Studies))
	}
	for r, err := range s.Run(t.Context()) {
		if err != nil || r.Sample && r.Name != "A/n=8" {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// TestFilter: names are filtered, and that none is left is an error of the filter.
func TestFilter(t *testing.T) {
	p := plan()
	kept, studies, err := session.Filter("/n:8", p.Comparisons, p.Studies)
	if err != nil || len(kept) != 1 || len(kept[0]) != 1 || kept[0][0].Name != "A/n=8" ||
		len(studies) != 0 {
		t.Errorf("%v, %v, %v", kept, studies, err)
	}
	for _, query := range []string{"x(", "/n:9"} {
		_, _, err := session.Filter(query, p.Comparisons, p.Studies)
		if e, ok := errors.AsType[*filter.Error](err); !ok || e.Query != query {
			t.Errorf("%q: %v", query, err)
		}
	}
}

// TestDefaults: without caches, those of this CPU are simulated, and the head of
// the file has them.
func TestDefaults(t *testing.T) {
	p := plan()
	p.Caches, p.TimesOnly, p.Count = simcache.Config{}, true, 1
	s := prepare(t, p)
	var file bytes.Buffer
	if _, _, err := s.Write(t.Context(), &file, nil); err != nil {
		t.Fatal(err)
	}
	set, err := results.Parse("run.txt", file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	config, err := set.Config()
	if err != nil {
		t.Fatal(err)
	}
	chosen := cpu.Choose(cpu.Caches())
	if got := results.SetupOf(config); got.D1.String() != chosen.First().String() ||
		got.LL.String() != chosen.Last().String() || len(got.TLB) == 0 ||
		got.Pages != access.PagesSmall.String() {
		t.Errorf("%+v, want %v", got, chosen.Levels)
	}
	for _, key := range []string{"sim-d1-source", "sim-ll-source", "date", "kernels", "load",
		keys.Suite, "overhead"} {
		if set.Comment(key) == "" {
			t.Errorf("nothing is said of %s", key)
		}
	}
	if got := set.Comment("counters"); got != "not asked for" {
		t.Errorf("counters: %q", got)
	}
}

// A samples is told of each sample, and of how far a run is.
type samples struct {
	each   func()
	phases []string
	timed  bool
	steps  atomic.Int64
	off    []string // phases whose steps were not all done
	want   int
}

func (s *samples) Phase(what string, steps int) { s.begin(what, steps, false) }
func (s *samples) Timed(what string, steps int) { s.begin(what, steps, true) }

func (s *samples) begin(what string, steps int, timed bool) {
	s.end()
	s.phases, s.want, s.timed = append(s.phases, what), steps, timed
	s.steps.Store(0)
}

func (s *samples) end() {
	if got := int(s.steps.Load()); len(s.phases) > 0 && got != s.want {
		s.off = append(s.off, fmt.Sprintf("%s: %d of %d steps", s.phases[len(s.phases)-1],
			got, s.want))
	}
}

func (s *samples) Step(steps int) {
	s.steps.Add(int64(steps))
	if s.timed && s.each != nil {
		s.each()
	}
}

// TestProgress: all phases of a run are told, and the steps of each are those that it
// said there are.
func TestProgress(t *testing.T) {
	for _, long := range []time.Duration{0, 1} { // the second foresees none, and all are
		p := plan()
		p.SampleTime, p.Long, p.LongCount = 1, long, 2
		s := prepare(t, p)
		var told samples
		if _, _, err := s.Write(t.Context(), io.Discard, &told); err != nil {
			t.Fatal(err)
		}
		told.end()
		if got := strings.Join(told.phases, ", "); got != "simulating 2 benchmarks, taking 6 "+
			"samples, simulating the studies" || told.off != nil {
			t.Errorf("phases %q, %q", got, told.off)
		}
	}
}

// TestLong: of benchmarks with long passes fewer samples are taken, and who ends a run
// is told how many there were to be.
func TestLong(t *testing.T) {
	p := plan()
	p.Count, p.SampleTime, p.Long, p.LongCount = 1000, 1, 1, 25
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := prepare(t, p)
	taken := 0
	for _, err := range s.Run(ctx) {
		if taken++; err == nil {
			if taken == 20 { // of both: a burst is ten
				cancel()
			}
			continue
		}
		if stop, ok := errors.AsType[session.Interrupted](err); err != nil &&
			(!ok || stop.Total != 50) {
			t.Errorf("%v", err)
		}
	}
	all := 0
	for r, err := range prepare(t, p).Run(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Sample {
			all++
		}
	}
	if all != 50 {
		t.Errorf("%d samples, want 25 of each of two", all)
	}
}
