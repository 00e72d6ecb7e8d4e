// Package show is the program's own and promises nothing. It writes names, counts and measurements
// for people.
package show

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/perf/benchunit"
)

// Printable replaces characters that a terminal or page would not show literally, such as escape
// sequences and direction marks. Names may come from a stranger's file.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// Counted returns "1 file" or "2 files".
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Bytes returns a number of bytes with a binary prefix: "32 KiB".
func Bytes(n int) string {
	scale, text := 1, "B"
	for _, unit := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if n < scale*1024 {
			break
		}
		scale, text = scale*1024, unit
	}
	value := strconv.FormatFloat(float64(n)/float64(scale), 'f', 2, 64)
	if strings.Contains(value, ".") {
		value = strings.TrimRight(strings.TrimRight(value, "0"), ".")
	}
	return value + " " + text
}

// Unstable marks a time whose interval is wider than the time itself.
const Unstable = "unstable"

// Spread formats a half width: "±3%", or Unstable above 1.
func Spread(share float64) string {
	if share > 1 {
		return Unstable
	}
	return fmt.Sprintf("±%.0f%%", 100*share)
}

// Scale formats a tidied value with a prefix: 1.23e-9 of sec/elem is "1.230 ns/elem", 8e9 of B/s is
// "7.451 GiB/s".
func Scale(value float64, unit string) string {
	s := benchunit.CommonScale([]float64{value}, benchunit.ClassOf(unit))
	number := strconv.FormatFloat(value/s.Factor, 'f', s.Prec, 64)
	if after, ok := strings.CutPrefix(unit, "sec"); ok {
		unit = "s" + after
	}
	return number + " " + s.Prefix + unit
}
