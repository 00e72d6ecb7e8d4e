package access

import (
	"context"
	"testing"
	"time"
)

// TestMeasureLoaded: each load has its samples; streams move bytes, and without load
// there is nothing but the chase's lines.
func TestMeasureLoaded(t *testing.T) {
	measure := func(ctx context.Context, o Options) (ns, bandwidth [][]float64, err error) {
		return MeasureLoaded(ctx, []float64{0, 0.5, 1}, 64<<10, 2*streamChunk+100*4, o)
	}
	o := Options{Count: 3, MinTime: 300 * time.Microsecond,
		CPUs: []int{workers()[0], workers()[len(workers())-1], workers()[0]}}
	ns, bandwidth, err := measure(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	for load, all := range ns {
		if len(all) != 3 || len(bandwidth[load]) != 3 {
			t.Fatalf("load %d: %v, %v", load, all, bandwidth[load])
		}
		for i, ns := range all {
			moved := bandwidth[load][i]
			if ns <= 0 || moved <= 0 {
				t.Errorf("load %d: %g ns, %g B/s", load, ns, moved)
			}
			if own := lineBytes / ns * 1e9; load == 0 && (moved < own/1.01 || moved > own*1.01) {
				t.Errorf("without load %g B/s move, the chase moves %g", moved, own)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := measure(ctx, o); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	o.CPUs = o.CPUs[:1]
	if _, _, err := measure(context.Background(), o); err == nil {
		t.Error("one CPU chases and streams")
	}
}
