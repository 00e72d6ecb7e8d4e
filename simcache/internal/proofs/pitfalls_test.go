package proofs

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache/internal/engine"
	"github.com/stridebench/stridebench/simcache/internal/enginetest"
)

func operand(place, width int, strides ...int) nest.Operand {
	return enginetest.Operand(place, width, strides...)
}

// parseNest reads a nest of testdata/pitfalls.txt, and the loop on which translation is tried.
func parseNest(text string) (n nest.Nest, loop int) {
	loops, operands, _ := strings.Cut(text, ":")
	fmt.Sscan(loops, &loop)
	for _, f := range strings.Fields(loops)[1:] {
		n.Trips = append(n.Trips, number(f))
	}
	for _, text := range strings.Split(operands, ",") {
		f := strings.Fields(text)
		o := nest.Operand{Base: uint64(number(f[0])), Width: number(f[1])}
		for _, stride := range f[2:] {
			o.Strides = append(o.Strides, number(stride))
		}
		n.Operands = append(n.Operands, o)
	}
	return n, loop
}

func number(text string) (n int) {
	fmt.Sscanf(text, "%v", &n)
	return n
}

// TestExactPitfalls compares the sequences of testdata/pitfalls.txt with brute force.
func TestExactPitfalls(t *testing.T) {
	text, err := os.ReadFile("testdata/pitfalls.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range strings.Split(string(text), "\n\nname ")[1:] {
		name, lines, _ := strings.Cut(section, "\n")
		t.Run(name, func(t *testing.T) {
			var s sequence
			passes := 0
			for line := range strings.Lines(lines) {
				key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
				switch key {
				case "level":
					var l engine.Level
					fmt.Sscan(value, &l.Sets, &l.Ways, &l.Shift)
					s.levels = append(s.levels, l)
				case "epochs":
					s.maxEpoch = uint64(number(value))
				case "passes":
					passes = number(value)
				default:
					n, loop := parseNest(value)
					s.nests, s.loops = append(s.nests, n), append(s.loops, loop)
				}
			}
			wrong := ""
			if passes > 0 {
				wrong = gathering{levels: s.levels, nests: s.nests, passes: passes}.check()
			} else {
				wrong = s.check()
			}
			if wrong != "" {
				t.Error(wrong)
			}
		})
	}
}
