package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/show"
	"github.com/stridebench/stridebench/results/terminal"
)

// vectorKernel returns the kernel of a result, "" for the plain loop. Old results without a kernel
// are of the plain loop.
func vectorKernel(r results.Row) string {
	if k := r.Key("kernel"); k != "scalar" {
		return k
	}
	return ""
}

func loop(kernel string) string {
	switch kernel {
	case "":
		return "plain loop"
	case "builtin":
		return "Go's copy"
	}
	return short(kernel, 16)
}

// number returns 0 unless the value is a whole number above 0.
func number(r results.Row, key string) int {
	n, err := strconv.Atoi(r.Key(key))
	if err != nil || n < 0 || n > 1<<40 {
		return 0
	}
	return n
}

// short cuts a name in its middle to at most this many characters. It may come from a stranger.
func short(label string, most int) string {
	runes := []rune(show.Printable(label))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most/2]) + "…" + string(runes[len(runes)-(most-1)/2:])
}

// shorts shortens labels in their middles, without a common beginning. Different labels stay
// different: shorts numbers those whose cuts are the same.
func shorts(labels []string, most int) []string {
	cut, start := make([]string, len(labels)), alike(labels)
	of := map[string]string{} // the first label, by its cut
	for i, label := range labels {
		if cut[i] = short(label, most); cut[i] != show.Printable(label) && start > 0 {
			cut[i] = short("…"+strings.TrimLeft(label[start:], " "), most)
		}
		if first, ok := of[cut[i]]; ok && first != label {
			number := fmt.Sprintf(" (%d)", slices.Index(labels, label)+1)
			cut[i] = short(cut[i], most-len(number)) + number
		}
		of[cut[i]] = label
	}
	return cut
}

// alike returns the length of the common beginning, up to the end of a word; 0 if all labels are
// the same.
func alike(labels []string) int {
	if len(labels) == 0 || slices.Min(labels) == slices.Max(labels) {
		return 0
	}
	n := len(labels[0])
	for _, label := range labels {
		n = min(n, len(label))
		for label[:n] != labels[0][:n] {
			n--
		}
	}
	return strings.LastIndexAny(labels[0][:n], " ./=-") + 1
}

// plainName returns a benchmark's name in words: "Copy transpose 4096x4096 float32 tile 32".
func plainName(name string) string {
	family, rest, _ := strings.Cut(strings.TrimPrefix(show.Printable(name), "Benchmark"), "/")
	words := []string{family}
	for part := range strings.SplitSeq(rest, "/") {
		if part != "kernel=scalar" && part != "" {
			words = append(words, terminal.Words(part))
		}
	}
	return strings.Join(words, " ")
}
