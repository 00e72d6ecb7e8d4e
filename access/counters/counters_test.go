package counters

import (
	"encoding/binary"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestParseReading(t *testing.T) {
	words := func(list ...uint64) []byte {
		var text []byte
		for _, w := range list {
			text = binary.NativeEndian.AppendUint64(text, w)
		}
		return text
	}
	got, err := parseReading(words(2, 900, 300, 7, 8), 2)
	if err != nil || got.enabled != 900 || got.running != 300 ||
		!slices.Equal(got.counts, []uint64{7, 8}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range [][]byte{nil, words(2, 900, 300, 7), words(1, 900, 300, 7, 8),
		words(2, 900, 300, 7, 8)[:39]} {
		if r, err := parseReading(text, 2); err == nil {
			t.Errorf("%v is read as %+v", text, r)
		}
	}
}

func TestSince(t *testing.T) {
	before := reading{enabled: 1000, running: 1000, counts: []uint64{50, 5}}
	for _, test := range []struct {
		name string
		now  reading
		want []float64
	}{
		{"all the time", reading{3000, 3000, []uint64{150, 5}}, []float64{100, 0}},
		{"a quarter of the time", reading{3000, 1500, []uint64{150, 8}}, []float64{400, 12}},
		{"never", reading{3000, 1000, []uint64{50, 5}}, nil},
		{"no longer enabled than counting", reading{2000, 2001, []uint64{60, 5}}, []float64{10, 0}},
	} {
		if got := test.now.since(before); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestExplain(t *testing.T) {
	for err, want := range map[error]string{
		syscall.ENOENT: "virtual machine",
		syscall.EACCES: `kernel.perf_event_paranoid is "3", and 2 or less allows them`,
		syscall.EPERM:  "sysctl -w kernel.perf_event_paranoid=2",
		syscall.ENOSYS: "has no perf_event_open",
		syscall.EMFILE: syscall.EMFILE.Error(),
	} {
		if got := explain(err, "3"); !strings.Contains(got, want) {
			t.Errorf("%v: %q lacks %q", err, got, want)
		}
	}
}
