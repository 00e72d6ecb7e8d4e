package results_test

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/filter"
	"github.com/stridebench/stridebench/results/keys"
	"github.com/stridebench/stridebench/results/show"
)

// filtered are names that filters select some of, and none of others.
var filtered = []string{
	"Copy/layout=t/shape=4000x4000/dtype=int32", "Copy/layout=n/shape=64x64/dtype=float32",
	"Traverse/order=row/shape=64x64/dtype=int64", "Traverse/order=col/shape=64x64/dtype=int32",
	"Stream/do=add", "Named/name=mine/view=x.T/order=row",
}

// readers are what is made of a text, by the section of testdata/texts.txt.
var readers = map[string]func(text string) (any, error){
	"parse": func(text string) (any, error) {
		set, err := results.Parse("run.txt", []byte(text))
		if err != nil {
			return nil, err
		}
		return set.Config()
	},
	"complete": func(text string) (any, error) {
		return "", must(results.Parse("run.txt", []byte(text))).Complete()
	},
	"are": func(text string) (any, error) { return results.Are([]byte(text)), nil },
	"label": func(text string) (any, error) {
		var pair results.Pair
		err := keys.Labels([]string{text}, func(key, value string) {
			pair = results.Pair{Key: key, Value: value}
		})
		return pair, err
	},
	"size": func(text string) (any, error) {
		return results.Row{Name: "Latency/size=" + text + "/k=1"}.Bytes("size"), nil
	},
	"in files": func(unit string) (any, error) {
		value, plain := results.InFiles(1.5e-9, unit)
		return fmt.Sprint(value, " ", plain), nil
	},
	"explains": func(unit string) (any, error) { return results.Explains(unit), nil },
	"bytes": func(text string) (any, error) {
		return show.Bytes(must(strconv.Atoi(text))), nil
	},
	"scale": func(text string) (any, error) {
		value, unit, _ := strings.Cut(text, " ")
		return show.Scale(must(strconv.ParseFloat(value, 64)), unit), nil
	},
	"written": func(text string) (any, error) {
		var b strings.Builder
		value := must(strconv.ParseFloat(text, 64))
		err := must(results.NewWriter(&b, nil, nil)).Write("X", 1,
			[]results.Value{{Value: value, Unit: "ns/op"}})
		return b.String()[strings.Index(b.String(), "Benchmark") : b.Len()-1], err
	},
	"filter": func(query string) (any, error) {
		return filter.Names(query, filtered)
	},
	"kept": kept,
}

// kept are the results that a filter keeps, and the units of the last.
func kept(query string) (any, error) {
	const lines = "BenchmarkCopy/n=8 1 5 ns/op 7 D1-misses/op\nBenchmarkSum/n=8 1 5 ns/op\n"
	set := must(results.Parse("a.txt", []byte(lines)))
	if err := filter.Keep(set, query, "a.txt"); err != nil {
		if e, ok := errors.AsType[*filter.Error](err); !ok || e.Query != query {
			return nil, fmt.Errorf("%w is not of the query", err)
		}
		return nil, err
	}
	text := fmt.Sprintf("%d results of", len(set.Results))
	for _, v := range set.Results[0].Values {
		text += " " + v.Unit
	}
	return text, nil
}

// TestTexts: a text, in quotes, has the result that testdata/texts.txt says after a tab, or an
// error that says so.
func TestTexts(t *testing.T) {
	data := must(os.ReadFile("testdata/texts.txt"))
	var read func(string) (any, error)
	for line := range strings.Lines(string(data)) {
		quoted, want, isCase := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !isCase {
			read = readers[quoted]
			continue
		}
		result, err := read(must(strconv.Unquote(quoted)))
		words, refused := strings.CutPrefix(want, "error: ")
		switch {
		case refused && (err == nil || !strings.Contains(err.Error(), words)), !refused && err != nil,
			!refused && fmt.Sprint(result) != want:
			t.Errorf("%s: %v, %v, want %s", quoted, result, err, want)
		}
	}
}
