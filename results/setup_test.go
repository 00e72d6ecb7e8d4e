package results_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/keys"
)

// TestSetup: what bench run writes is decoded.
func TestSetup(t *testing.T) {
	const head = `goos: linux
goarch: amd64
cpu: AMD EPYC
cpus: 2
caches: L1d=32768,8,64 L1i=32768,8,64 L2=524288,8,64 L3=33554432,16,64
goversion: go1.26.8
sim-d1: 32768,8,64
sim-ll: 33554432,16,64
sim-tlb: 64,64,4096 2048,8,4096
pages: 4k
`
	config := must(must(results.Parse("run.txt", []byte(head+"BenchmarkA/a=1 1 5 ns/op\n"))).Config())
	want := results.Setup{
		GOOS: "linux", GOARCH: "amd64", GoVersion: "go1.26.8", CPU: "AMD EPYC", CPUs: 2, Pages: "4k",
		Caches: []results.Cache{{Name: "L1d", Size: 32768, Ways: 8, Line: 64},
			{Name: "L1i", Size: 32768, Ways: 8, Line: 64},
			{Name: "L2", Size: 524288, Ways: 8, Line: 64}, {Name: "L3", Size: 33554432, Ways: 16, Line: 64}},
		D1: results.Cache{Name: "D1", Size: 32768, Ways: 8, Line: 64},
		LL: results.Cache{Name: "LL", Size: 33554432, Ways: 16, Line: 64},
		TLB: []results.TLB{{Entries: 64, Ways: 64, Page: 4096},
			{Entries: 2048, Ways: 8, Page: 4096}},
	}
	got := results.SetupOf(config)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestSetupConfig: what a setup writes is decoded to the same setup.
func TestSetupConfig(t *testing.T) {
	word, few := rapid.StringMatching(`[a-zA-Z0-9]+( [a-z0-9]+)?`), rapid.IntRange(1, 1<<10)
	rapid.Check(t, func(t *rapid.T) {
		cache := func(name string) results.Cache {
			ways, line := few.Draw(t, "ways"), few.Draw(t, "line")
			return results.Cache{Name: name, Size: ways * line * few.Draw(t, "sets"), Ways: ways, Line: line}
		}
		s := results.Setup{GOOS: word.Draw(t, "os"), GOARCH: word.Draw(t, "arch"),
			GoVersion: word.Draw(t, "version"), CPU: word.Draw(t, "cpu"),
			CPUs: few.Draw(t, "cpus"), Pages: rapid.SampledFrom([]string{"", "4k"}).Draw(t, "pages"),
			D1: cache("D1"), LL: cache("LL")}
		for range rapid.IntRange(0, 4).Draw(t, "caches") {
			s.Caches = append(s.Caches, cache(rapid.StringMatching("[A-Z][0-9a-z]*").Draw(t, "name")))
		}
		for range rapid.IntRange(0, 2).Draw(t, "TLBs") {
			ways := few.Draw(t, "ways")
			s.TLB = append(s.TLB, results.TLB{Entries: ways * few.Draw(t, "sets"), Ways: ways,
				Page: few.Draw(t, "page")})
		}
		config := map[string]string{}
		for _, p := range s.Config() {
			config[p.Key] = p.Value
		}
		if diff := cmp.Diff(s, results.SetupOf(config)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestSetupOfStrangers: what is no cache and no TLB is left out, and the rest
// stays.
func TestSetupOfStrangers(t *testing.T) {
	const good = "32768,8,64"
	for _, bad := range []string{"", " ", ",", ",,", "32768", "32768,8", "32768,8,64,1", "0,8,64",
		"32768,0,64", "32768,8,0", "-32768,8,64", "32768,-8,64",
		"32768,8,-64", "32KiB,8,64", "3.2e4,8,64", "0x8000,8,64", "32_768,8,64", "٣٢٧٦٨,8,64",
		"32768,<i>,64", "64,8,64", "32768,513,64",
		"9223372036854775807,1,1", "1099511627777,1,64", "99999999999999999999,8,64",
		"9007199254740993,9007199254740993,9007199254740993", "4611686018427387904,4,4611686018427387904",
		"32768,9223372036854775807,9223372036854775807", strings.Repeat("9", 100_000) + ",8,64",
		"32768,8,64\x00", "\u202e32768,8,64"} {
		got := results.SetupOf(map[string]string{
			"caches": "L1d=" + bad + " L2=" + good + " =" + good + " " + good + " L3", "sim-d1": bad,
			"sim-ll":  good,
			"sim-tlb": strings.ReplaceAll(bad, " ", "") + " 64,4,4096", "cpus": bad})
		if len(got.Caches) != 1 || got.Caches[0].Name != "L2" || got.D1 != (results.Cache{}) ||
			got.LL.Size != 32768 || got.CPUs != 0 && bad != "32768" {
			t.Errorf("%.40q: %+v", bad, got)
		}
	}
	for _, bad := range []string{"0,4,4096", "64,0,4096", "64,4,0", "64,65,4096", "1048577,4,4096",
		"64,4,4294967297", "64,4", "64,4,4k"} {
		if got := results.SetupOf(map[string]string{keys.TLB: bad + " 64,4,4096"}).TLB; len(
			got) != 1 || got[0] != (results.TLB{Entries: 64, Ways: 4, Page: 4096}) {
			t.Errorf("%q: %+v", bad, got)
		}
	}
	many := results.SetupOf(map[string]string{keys.Caches: strings.Repeat("L=32768,8,64 ", 1000),
		keys.TLB: strings.Repeat("64,4,4096 ", 1000)})
	if len(many.Caches) != 16 || len(many.TLB) != 16 {
		t.Errorf("%d caches and %d TLBs", len(many.Caches), len(many.TLB))
	}
	if diff := cmp.Diff(results.Setup{}, results.SetupOf(nil)); diff != "" {
		t.Error(diff)
	}
}
