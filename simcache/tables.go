package simcache

import (
	"cmp"
	"slices"
	"strings"
)

// EndsSummary is the part of Summary, or without instructions of DataSummary,
// that holds for any number of levels: D1 is the first and LL the last. What
// misses in D1 reaches LL only where there are two.
func (c Counts) EndsSummary() string {
	text := c.DataSummary()
	if c.Ir > 0 {
		text = c.Summary()
	}
	return text[:strings.LastIndex(text, "\n\n")+1]
}

// MissRate is the part of the references that missed, 0 to 1.
func (l LevelCounts) MissRate() float64 { return part(l.Misses(), l.Refs()) }

// UsedPart is the part of the bytes brought in that references touched, 0 to 1;
// with UsedBytes.
func (l LevelCounts) UsedPart() float64 { return part(l.BytesUsed, l.BytesFilled) }

func part(n, of uint64) float64 { return float64(n) / float64(max(of, 1)) }

// A Spread says how evenly misses fall on the sets of a level.
type Spread struct {
	Sets   int `json:"sets"`
	Missed int `json:"missed"` // sets in which anything missed
	// misses of the busiest set over those of the mean set: 1 is even, Sets is all in one
	Uneven float64 `json:"uneven"`
	// up to 4 sets with more misses than the mean, the busiest first
	Busiest []BusySet `json:"busiest"`
}

// A BusySet is a set and the lookups that missed in it.
type BusySet struct {
	Set    int    `json:"set"`
	Misses uint64 `json:"misses"`
}

// Spread sums up SetMisses; ok is false where they were not observed, or
// nothing missed.
func (l LevelCounts) Spread() (s Spread, ok bool) {
	total := uint64(0)
	var all []BusySet
	for set, misses := range l.SetMisses {
		total += misses
		if misses > 0 {
			s.Missed++
		}
		all = append(all, BusySet{set, misses})
	}
	if total == 0 {
		return Spread{}, false
	}
	slices.SortStableFunc(all, func(a, b BusySet) int { return cmp.Compare(b.Misses, a.Misses) })
	s.Sets = len(all)
	s.Uneven = float64(all[0].Misses) * float64(s.Sets) / float64(total)
	s.Busiest = []BusySet{}
	for _, b := range all[:min(len(all), 4)] {
		if b.Misses*uint64(s.Sets) > total {
			s.Busiest = append(s.Busiest, b)
		}
	}
	return s, true
}
