package simcache

import (
	"cmp"
	"slices"
	"strings"
)

// EndsSummary returns the part of Summary, or without instructions of DataSummary, that holds for
// any number of levels, D1 being the first and LL the last. D1's misses reach LL only if there are
// two.
func (c Counts) EndsSummary() string {
	text := c.DataSummary()
	if c.Ir > 0 {
		text = c.Summary()
	}
	return text[:strings.LastIndex(text, "\n\n")+1]
}

// MissRate returns misses as a share of references, 0 to 1.
func (l LevelCounts) MissRate() float64 { return part(l.Misses(), l.Refs()) }

// UsedPart returns the touched share of the bytes brought in, 0 to 1; with UsedBytes.
func (l LevelCounts) UsedPart() float64 { return part(l.BytesUsed, l.BytesFilled) }

func part(n, of uint64) float64 { return float64(n) / float64(max(of, 1)) }

// A Spread is the distribution of misses over a level's sets.
type Spread struct {
	Sets   int `json:"sets"`
	Missed int `json:"missed"` // sets with a miss
	// misses of the busiest set over the mean: 1 is even, Sets is all in one
	Uneven float64 `json:"uneven"`
	// up to 4 sets with more misses than the mean, the busiest first
	Busiest []busySet `json:"busiest"`
}

// A busySet is a set and the lookups that missed in it.
type busySet struct {
	Set    int    `json:"set"`
	Misses uint64 `json:"misses"`
}

// Spread summarizes SetMisses. ok is false without observed misses.
func (l LevelCounts) Spread() (s Spread, ok bool) {
	total := uint64(0)
	var all []busySet
	for set, misses := range l.SetMisses {
		total += misses
		if misses > 0 {
			s.Missed++
		}
		all = append(all, busySet{set, misses})
	}
	if total == 0 {
		return Spread{}, false
	}
	slices.SortStableFunc(all, func(a, b busySet) int { return cmp.Compare(b.Misses, a.Misses) })
	s.Sets = len(all)
	s.Uneven = float64(all[0].Misses) * float64(s.Sets) / float64(total)
	s.Busiest = []busySet{}
	for _, b := range all[:min(len(all), 4)] {
		if b.Misses*uint64(s.Sets) > total {
			s.Busiest = append(s.Busiest, b)
		}
	}
	return s, true
}
