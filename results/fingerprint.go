package results

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Fingerprint holds what must be equal for times to compare: operating system, CPU model, cores,
// caches, and chosen kernels.
type Fingerprint []Pair

// fingerprintKeys are a fingerprint's keys, with those that begin with kernelPrefix.
var fingerprintKeys = []string{"goos", "goarch", "cpu", "cpus", CachesKey}

const kernelPrefix = "kernel"

// FingerprintOf returns the fingerprint in a file's configuration, see [Set.Config].
func FingerprintOf(config map[string]string) Fingerprint {
	return take(config, func(key string) bool {
		return slices.Contains(fingerprintKeys, key) || strings.HasPrefix(key, kernelPrefix)
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
func (f Fingerprint) Known() bool { return f.Get("cpu") != "" || f.Get(CachesKey) != "" }

// Differ returns the keys that differ, with both values.
func (f Fingerprint) Differ(g Fingerprint) []string {
	keys := map[string]bool{}
	for _, p := range slices.Concat(f, g) {
		keys[p.Key] = true
	}
	var found []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if a, b := f.Get(key), g.Get(key); a != b {
			found = append(found, fmt.Sprintf("%s (%s and %s)", key, orAbsent(a), orAbsent(b)))
		}
	}
	return found
}

// TLBKey is the configuration key of the simulated TLB (simcache.FormatTLB).
const TLBKey = "sim-tlb"

// GeometryOf returns what simulated units depend on: the keys that begin with "sim-".
func GeometryOf(config map[string]string) Fingerprint {
	return take(config, func(key string) bool { return strings.HasPrefix(key, "sim-") })
}

// SweptKey is the configuration key of a sweep's named caches: "small=1024,2,64+65536,8,64
// large=32768,8,64+1048576,16,64". A benchmark names them by "/caches=small".
const SweptKey = "sim-caches"

const sweptPart = "caches"

// For returns what a benchmark's unit depends on: TLBKey for TLB-misses/op, all other keys for
// other units, and of SweptKey the caches that the benchmark names.
func (f Fingerprint) For(benchmark, unit string) Fingerprint {
	var part Fingerprint
	for _, p := range f {
		if p.Key == SweptKey {
			p.Value = swept(p.Value, Row{Name: benchmark}.Key(sweptPart))
		}
		if p.Value != "" && (p.Key == TLBKey) == (unit == tlbUnit) {
			part = append(part, p)
		}
	}
	return part
}

// swept returns the entry of name in a value of SweptKey, "" if absent. It does not parse the
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
