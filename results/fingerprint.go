package results

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/results/keys"
)

// A Fingerprint holds what must be equal for times to compare: operating system, CPU model, cores,
// caches, and chosen kernels.
type Fingerprint []Pair

// fingerprintKeys are a fingerprint's keys, with those that begin with keys.Kernel.
var fingerprintKeys = []string{"goos", "goarch", "cpu", "cpus", keys.Caches}

// FingerprintOf returns the fingerprint in a file's configuration, see [Set.Config].
func FingerprintOf(config map[string]string) Fingerprint {
	return take(config, func(key string) bool {
		return slices.Contains(fingerprintKeys, key) || strings.HasPrefix(key, keys.Kernel)
	})
}

// Get returns the value of a key, "" if absent.
func (f Fingerprint) Get(key string) string {
	for _, p := range f {
		if p.Key == key {
			return p.Value
		}
	}
	return ""
}

// Hash returns the first 12 hex digits of the SHA-256 of the fingerprint's lines "key: value".
func (f Fingerprint) Hash() string {
	h := sha256.New()
	for _, p := range f {
		fmt.Fprintf(h, "%s: %s\n", p.Key, p.Value)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// Known reports whether the fingerprint names a CPU or caches. Without, equal ones may be of
// different machines.
func (f Fingerprint) Known() bool { return f.Get("cpu") != "" || f.Get(keys.Caches) != "" }

// Differ returns the keys that differ, with both values.
func (f Fingerprint) Differ(g Fingerprint) []string {
	either := map[string]bool{}
	for _, p := range slices.Concat(f, g) {
		either[p.Key] = true
	}
	var found []string
	for _, key := range slices.Sorted(maps.Keys(either)) {
		if a, b := f.Get(key), g.Get(key); a != b {
			found = append(found, fmt.Sprintf("%s (%s and %s)", key, orAbsent(a), orAbsent(b)))
		}
	}
	return found
}

// GeometryOf returns what simulated units depend on: the keys that begin with "sim-".
func GeometryOf(config map[string]string) Fingerprint {
	return take(config, func(key string) bool { return strings.HasPrefix(key, "sim-") })
}

// LabelsOf returns the labels of a configuration, by key.
func LabelsOf(config map[string]string) Fingerprint { return take(config, keys.IsLabel) }

// sweptPart is the key of a name that has the name of a sweep's caches, see keys.Swept.
const sweptPart = "caches"

// For returns what a benchmark's unit depends on: [keys.TLB] for TLB-misses/op, all other keys
// for other units, and of [keys.Swept] the caches that the benchmark names.
func (f Fingerprint) For(benchmark, unit string) Fingerprint {
	var part Fingerprint
	for _, p := range f {
		if p.Key == keys.Swept {
			p.Value = swept(p.Value, Row{Name: benchmark}.Key(sweptPart))
		}
		if p.Value != "" && (p.Key == keys.TLB) == (unit == tlbUnit) {
			part = append(part, p)
		}
	}
	return part
}

// swept returns the entry of name in a value of keys.Swept, "" if absent. It does not parse the
// value, because it runs for each count of a sweep.
func swept(value, name string) string {
	for at := 0; name != ""; at++ {
		i := strings.Index(value[at:], name+"=")
		if i < 0 {
			return ""
		}
		at += i
		entry, _, _ := strings.Cut(value[at:], " ")
		if (at == 0 || value[at-1] == ' ') && strings.LastIndexByte(entry, '=') == len(name) {
			return entry
		}
	}
	return ""
}

func take(config map[string]string, wanted func(string) bool) Fingerprint {
	var f Fingerprint
	for _, key := range slices.Sorted(maps.Keys(config)) {
		if config[key] != "" && wanted(key) {
			f = append(f, Pair{key, config[key]})
		}
	}
	return f
}

func orAbsent(value string) string {
	if value == "" {
		return "absent"
	}
	return fmt.Sprintf("%q", value)
}
