package node

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/keys"
)

func TestComments(t *testing.T) {
	root := fstest.MapFS{
		"proc/sys/kernel/osrelease": {Data: []byte("6.1.0\n")},
		"proc/cpuinfo": {Data: []byte(
			"processor\t: 0\nmicrocode\t: 0x1f\n\nprocessor\t: 1\nmicrocode\t: 0x20\n")},
	}
	all := comments(Machine{Memory: 1 << 30, Governors: []string{"performance"}, Turbo: "on"},
		root)
	want := []results.Pair{{Key: "kernel-release", Value: "6.1.0"},
		{Key: "microcode", Value: "0x1f"}, {Key: "memory", Value: "1 GiB"},
		{Key: "governor", Value: "performance"}, {Key: "turbo", Value: "on"}}
	if diff := cmp.Diff(want, all[1:]); all[0].Key != keys.Node || diff != "" {
		t.Error(all, diff)
	}
}
