package export_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/export"
)

const text = `cpu: A
Unit D1-misses/op assume=exact better=lower
BenchmarkX/a=b 1 10 ns/op 5000 B/s 7 D1-misses/op 3 points
BenchmarkX/a=b 1 11 ns/op 5000 B/s 7 D1-misses/op 3 points
BenchmarkX/a=b 1 12.3 ns/op 5000 B/s 7 D1-misses/op 3 points
BenchmarkX/a=b 1 13 ns/op 5000 B/s 7 D1-misses/op 3 points
BenchmarkX/a=b 1 14 ns/op 5000 B/s 7 D1-misses/op 3 points
BenchmarkX/a=b 1 15 ns/op 5000 B/s 7 D1-misses/op 3 points
Benchmark=1 1 0.3 ns/op
`

func records(t testing.TB, text string) []export.Record {
	t.Helper()
	set, err := results.Parse("x.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	list, err := export.Records(set)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestFormats(t *testing.T) {
	for name, want := range map[string]string{
		"csv": `commit,date,fingerprint,name,unit,median,lower,upper,samples,exact,better
,,,BenchmarkX/a=b,ns/op,12.65,10,15,6,false,lower
,,,BenchmarkX/a=b,B/s,5000,5000,5000,6,false,higher
,,,BenchmarkX/a=b,D1-misses/op,7,,,6,true,lower
,,,BenchmarkX/a=b,points,3,3,3,6,false,lower
,,,Benchmark=1,ns/op,0.3,,,1,false,lower
`,
		"jsonl": `{"name":"BenchmarkX/a=b","unit":"ns/op","median":12.65,"lower":10,"upper":15,"samples":6,"exact":false,"better":"lower"}
{"name":"BenchmarkX/a=b","unit":"B/s","median":5000,"lower":5000,"upper":5000,"samples":6,"exact":false,"better":"higher"}
{"name":"BenchmarkX/a=b","unit":"D1-misses/op","median":7,"samples":6,"exact":true,"better":"lower"}
{"name":"BenchmarkX/a=b","unit":"points","median":3,"lower":3,"upper":3,"samples":6,"exact":false,"better":"lower"}
{"name":"Benchmark=1","unit":"ns/op","median":0.3,"samples":1,"exact":false,"better":"lower"}
`,
		"github-action-benchmark": `[
  {
    "name": "BenchmarkX/a=b - ns/op",
    "unit": "ns/op",
    "value": 12.65,
    "range": "± 2.65",
    "extra": "median of 6 samples"
  },
  {
    "name": "BenchmarkX/a=b - D1-misses/op",
    "unit": "D1-misses/op",
    "value": 7,
    "extra": "simulated, exact"
  },
  {
    "name": "BenchmarkX/a=b - points",
    "unit": "points",
    "value": 3,
    "range": "± 0",
    "extra": "median of 6 samples"
  },
  {
    "name": "Benchmark=1 - ns/op",
    "unit": "ns/op",
    "value": 0.3,
    "extra": "1 sample"
  }
]
`,
		"bencher": `{
  "Benchmark=1": {
    "latency": {
      "value": 0.3
    }
  },
  "BenchmarkX/a=b": {
    "B/s": {
      "value": 5000,
      "lower_value": 5000,
      "upper_value": 5000
    },
    "D1-misses/op": {
      "value": 7
    },
    "latency": {
      "value": 12.65,
      "lower_value": 10,
      "upper_value": 15
    },
    "points": {
      "value": 3,
      "lower_value": 3,
      "upper_value": 3
    }
  }
}
`,
	} {
		var b bytes.Buffer
		if err := export.Formats[name](&b, records(t, text)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestNoUnits: a file that does not say what its units are has ours as we write them.
func TestNoUnits(t *testing.T) {
	list := records(t, "BenchmarkX 1 10 ns/op 7 D1-misses/op\n")
	if list[0].Exact || !list[1].Exact {
		t.Errorf("%+v", list)
	}
	var b bytes.Buffer
	if err := export.Formats["github-action-benchmark"](&b, list); err != nil ||
		strings.Contains(b.String(), "1 samples") {
		t.Errorf("%v, %s", err, b.String())
	}
}

// TestForeignBytes: names that are no UTF-8 are the same text in each format.
func TestForeignBytes(t *testing.T) {
	list := records(t, "BenchmarkX/a=\xff\xfeé 1 10 ns/op\n")
	for name, format := range export.Formats {
		var b bytes.Buffer
		if err := format(&b, list); err != nil || !utf8.Valid(b.Bytes()) ||
			!strings.Contains(strings.ReplaceAll(b.String(), `\ufffd`, "\uFFFD"),
				"X/a=\uFFFD\uFFFDé") {
			t.Errorf("%s: %v, %q", name, err, b.String())
		}
	}
}

// TestUnits: each unit is exported as bench run writes it, with the value that the
// line has: no seconds beside ns.
func TestUnits(t *testing.T) {
	line := "BenchmarkX 1"
	for i, u := range results.Units {
		line += fmt.Sprintf(" %d.5 %s", i+1, u.Name)
	}
	list := records(t, line+" 3.25 ns-total 7 rows/ns 2 ns*ns/op 4 MB/s\n")
	for i, u := range results.Units {
		if r := list[i]; r.Unit != u.Name || r.Median != float64(i+1)+.5 && r.Unit != "B/s" {
			t.Errorf("%s is exported as %v %s", u.Name, r.Median, r.Unit)
		}
	}
	got := map[string]float64{}
	for _, r := range list[len(results.Units):] {
		got[r.Unit] = r.Median
	}
	if diff := cmp.Diff(map[string]float64{"ns-total": 3.25, "rows/ns": 7, "ns*ns/op": 2},
		got); diff != "" {
		t.Error(diff)
	}
}

func TestRefusals(t *testing.T) {
	long := records(t, "Benchmark"+strings.Repeat("X", 1020)+" 1 2 ns/op\n")
	if err := export.Formats["bencher"](&bytes.Buffer{}, long); err == nil ||
		!strings.Contains(err.Error(), "at most 1024 characters") {
		t.Error(err)
	}
	set, err := results.Parse("x.txt", []byte("BenchmarkX 1 NaN ns/op\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := export.Records(set); err == nil {
		t.Error("NaN was exported")
	}
	var b bytes.Buffer
	if err := export.Formats["csv"](&b,
		[]export.Record{{Name: "BenchmarkX", Unit: "=1+1"}}); err != nil ||
		!strings.Contains(b.String(), ",'=1+1,") {
		t.Errorf("%v: %s", err, b.String())
	}
}

// FuzzFormats: whatever the results, each format is well-formed.
func FuzzFormats(f *testing.F) {
	f.Add(text)
	f.Add("BenchmarkX,\"\r 1 1e-300 ns/op -1e300 =u\n")
	f.Fuzz(func(t *testing.T, text string) {
		set, err := results.Parse("fuzz", []byte(text))
		if err != nil {
			return
		}
		list, err := export.Records(set)
		if err != nil {
			return
		}
		for name, write := range export.Formats {
			var b bytes.Buffer
			if err := write(&b, list); err != nil {
				continue // too long a name
			}
			switch name {
			case "csv":
				if lines, err := csv.NewReader(&b).ReadAll(); err != nil ||
					len(lines) != len(list)+1 {
					t.Fatalf("%d lines, %v", len(lines), err)
				}
			case "jsonl":
				for line := range bytes.Lines(b.Bytes()) {
					if !json.Valid(line) {
						t.Fatalf("no JSON: %s", line)
					}
				}
			default:
				if !json.Valid(b.Bytes()) {
					t.Fatalf("no JSON: %s", b.Bytes())
				}
			}
		}
	})
}
