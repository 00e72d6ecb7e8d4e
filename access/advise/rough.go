package advise

import (
	"context"
	"math"
	"slices"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/cost"
)

// Predictions of many walks are made twice: of all by what a small window tells
// (cost.LeastWindow), which takes a tenth of the time, and again of those that may be wanted.

// fewestRough is the number of walks from which on that pays.
const fewestRough = 32

// rough is how many times as long a walk must be predicted to take by the small window as one
// that is wanted, to be certain not to be. A small window underestimates, by up to 4 times, where it does not
// see what leaves a cache; that does no harm. It overestimated none of 1,080 walks of three copies and additions
// by more than 2.6 times, which was for tiles of 2048x8: it sees no such tile whole.
const rough = 4

// wanted predicts walks, and leaves out those that are certain not to be wanted. A walk that
// is predicted again may turn out slower, so that others are near it. This repeats until
// none is left.
func (q Question) wanted(ctx context.Context, walks []Walk) (wanted []Walk, err error) {
	small := q.Model
	small.Window = cost.LeastWindow
	if err := q.predict(ctx, small, walks); err != nil {
		return nil, err
	}
	done := make([]bool, len(walks))
	for {
		var next []int
		var again []Walk
		near := q.near(walks)
		for i, w := range walks {
			if !done[i] && near(w) {
				done[i] = true
				next, again = append(next, i), append(again, w)
			}
		}
		if err := q.predict(ctx, q.Model, again); err != nil {
			return nil, err
		}
		for k, i := range next {
			walks[i] = again[k]
		}
		if len(next) == 0 {
			break
		}
	}
	for i, w := range walks {
		if done[i] {
			wanted = append(wanted, w)
		}
	}
	return wanted, nil
}

// near returns a function that reports whether a predicted walk may be wanted: whether it is near the best ones that
// were asked for, or the best by plain loops or by a kernel, as stored or padded, and plain loops in
// the naive order.
func (q Question) near(walks []Walk) func(Walk) bool {
	type class struct {
		kernel access.Kernel
		padded bool
	}
	classOf := func(w Walk) class { return class{w.Spec.Kernel, w.Padded > 0} }
	best := map[class]float64{}
	var stored []float64
	for _, w := range walks {
		ns, c := w.Prediction.Ns, classOf(w)
		if least, known := best[c]; !known || ns < least {
			best[c] = ns
		}
		if !c.padded {
			stored = append(stored, ns)
		}
	}
	slices.Sort(stored)
	most := math.Inf(1)
	if enough := max(q.Best, timedBest); enough <= len(stored) {
		most = rough * stored[enough-1]
	}
	return func(w Walk) bool {
		naive := w.plain() && w.Spec.Tile == nil && w.Spec.Order == access.Row
		return naive || w.Prediction.Ns <= max(most, rough*best[classOf(w)])
	}
}
