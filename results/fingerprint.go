package results

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Fingerprint is what must be the same for times to compare: the operating
// system, the CPU's model, its cores and caches, and the kernels chosen.
type Fingerprint []Pair

// fingerprintKeys are the configuration keys of a fingerprint, and so is every
// key that begins with kernelPrefix.
var fingerprintKeys = []string{"goos", "goarch", "cpu", "cpus", CachesKey}

const kernelPrefix = "kernel"

// FingerprintOf takes the fingerprint out of the configuration of a file, see
// [Set.Config]. What the file does not say is left out.
func FingerprintOf(config map[string]string) Fingerprint {
	return take(config, func(key string) bool {
		return slices.Contains(fingerprintKeys, key) || strings.HasPrefix(key, kernelPrefix)
	})
}

// Get is the value of a key, "" if there is none.
func (f Fingerprint) Get(key string) string {
	for _, p := range f {
		if p.Key == key {
			return p.Value
		}
	}
	return ""
}

// Hash names the fingerprint: the first 12 hex digits of the SHA-256 of its
// lines "key: value".
func (f Fingerprint) Hash() string {
	h := sha256.New()
	for _, p := range f {
		fmt.Fprintf(h, "%s: %s\n", p.Key, p.Value)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// Known tells whether the fingerprint says what machine it is of: without a
// CPU or caches, two that are equal may be of different machines.
func (f Fingerprint) Known() bool { return f.Get("cpu") != "" || f.Get(CachesKey) != "" }

// Differ names the keys in which two fingerprints differ, with both values;
// nil if they are the same.
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

// GeometryOf takes what simulated units hang on out of the configuration of a
// file: the keys that begin with "sim-".
func GeometryOf(config map[string]string) Fingerprint {
	return take(config, func(key string) bool { return strings.HasPrefix(key, "sim-") })
}

// SweptKey is the configuration key of the caches that a sweep gives names to:
// "small=1024,2,64+65536,8,64 large=32768,8,64+1048576,16,64". The part "/caches=small"
// of a benchmark's name says in which of them it was simulated.
const SweptKey = "sim-caches"

// sweptPart is the key of that part of names.
const sweptPart = "caches"

// OfSweep tells whether a benchmark is one of a sweep, which says in its name in what caches it was
// simulated.
func OfSweep(benchmark string) bool { return Row{Name: benchmark}.Key(sweptPart) != "" }

// For is the part of a geometry that a unit of a benchmark hangs on: TLBKey for
// TLB-misses/op, all other keys for the other units, of SweptKey the caches that the
// benchmark names.
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

// swept is the entry of a name in a value of SweptKey, "" if it has none. It is asked for
// each count of a sweep, of which the value names all caches: it goes for the name alone.
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
