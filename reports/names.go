package reports

import (
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/results"
)

// vectorKernel is the kernel of a result, but "" for the plain loop, which is
// also that of results from before names had a kernel.
func vectorKernel(r results.Row) string {
	if k := r.Key("kernel"); k != "scalar" {
		return k
	}
	return ""
}

// loop says what a kernel is, in words.
func loop(kernel string) string {
	switch kernel {
	case "":
		return "plain loop"
	case "builtin":
		return "Go's copy"
	}
	return short(kernel, 16)
}

// number reads the value of a key as a whole number above 0, 0 if it is none.
func number(r results.Row, key string) int {
	n, err := strconv.Atoi(r.Key(key))
	if err != nil || n < 0 || n > 1<<40 {
		return 0
	}
	return n
}

// short is what a label may show of a name, which may be a stranger's: so many
// characters.
func short(label string, most int) string {
	label = results.Printable(label)
	if runes := []rune(label); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return label
}

// shorts are labels as short shows them, but that those which it would make the same
// are cut in the middle, and keep their ends.
func shorts(labels []string, most int) []string {
	cut, same := make([]string, len(labels)), map[string]int{}
	for i, label := range labels {
		cut[i] = short(label, most)
		same[cut[i]]++
	}
	for i, label := range labels {
		if same[cut[i]] > 1 {
			cut[i] = ends(label, most)
		}
	}
	return cut
}

// ends is a label as short shows it, but cut in the middle.
func ends(label string, most int) string {
	runes := []rune(results.Printable(label))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most/2]) + "…" + string(runes[len(runes)-(most-1)/2:])
}

// plainName is a benchmark's name without what most have: "Copy transpose
// 4096x4096 float32 tile 32".
func plainName(name string) string {
	family, rest, _ := strings.Cut(strings.TrimPrefix(results.Printable(name), "Benchmark"), "/")
	words := []string{family}
	for part := range strings.SplitSeq(rest, "/") {
		key, value, ok := strings.Cut(part, "=")
		switch _, err := strconv.Atoi(value); {
		case part == "kernel=scalar":
		case !ok || err != nil && key != "with":
			words = append(words, value)
		default: // a number alone says nothing
			words = append(words, key+" "+value)
		}
	}
	return strings.Join(words, " ")
}
