package session_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
)

// A suite of one's own sums a matrix by rows and by columns.
func Example() {
	// 1. The plan: what to walk, on which simulated caches, how often and for how long.
	var c access.Comparison
	for _, order := range []access.Order{access.Row, access.Col} {
		spec := access.Spec{Op: access.Sum, Shape: []int{512, 512}, DType: layouts.Int32, Order: order}
		c = append(c, access.Benchmark{Name: "Mine/order=" + order.String(), Spec: spec})
	}
	d1, ll := simcache.Geometry{Size: 32 << 10, Ways: 8, Line: 64}, simcache.Geometry{Size: 8 << 20, Ways: 16, Line: 64}
	plan := session.Plan{Comparisons: []access.Comparison{c}, Caches: simcache.Config{Levels: simcache.TwoLevels(d1, ll)}, Count: 1, SampleTime: time.Millisecond}

	// 2. Errors are reported now, before anything runs.
	s, err := plan.Prepare()
	if err != nil {
		fmt.Println(err)
		return
	}

	// 3. Each sample is a record, with the time and the simulated counts of the same pass.
	for r, err := range s.Run(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, v := range r.Values {
			if strings.HasPrefix(v.Unit, "D") { // others are ns/op, B/s and so on
				fmt.Println(r.Name, v.Value, v.Unit)
			}
		}
	}

	// 4. Warnings say what makes the times doubtful, if anything does.
	for _, w := range s.Warnings() {
		fmt.Fprintln(os.Stderr, w)
	}
	// Unordered output:
	// Mine/order=row 262144 D-refs/op
	// Mine/order=row 16384 D1-misses/op
	// Mine/order=col 262144 D-refs/op
	// Mine/order=col 262144 D1-misses/op
}
