package access

import (
	"context"
	"testing"
	"time"
)

// TestMeasureLoaded: each load has its samples; streams move bytes, and without load
// there is nothing but the chase's lines.
func TestMeasureLoaded(t *testing.T) {
	o := LoadOptions{Chase: 64 << 10, Stream: 2*streamChunk + 100*4, Loads: []float64{0, 0.5, 1}, Count: 3, MinTime: 300 * time.Microsecond,
		CPUs: []int{workers()[0], workers()[len(workers())-1], workers()[0]}}
	samples, err := MeasureLoaded(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	count := map[int]int{}
	for _, s := range samples {
		count[s.Load]++
		if s.Ns <= 0 || s.Bandwidth <= 0 {
			t.Errorf("%+v", s)
		}
		if own := lineBytes / s.Ns * 1e9; s.Load == 0 && (s.Bandwidth < own/1.01 || s.Bandwidth > own*1.01) {
			t.Errorf("without load %g B/s move, the chase moves %g", s.Bandwidth, own)
		}
	}
	if len(samples) != 9 || count[0] != 3 || count[1] != 3 || count[2] != 3 {
		t.Errorf("samples by load: %v", count)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := MeasureLoaded(ctx, o); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	o.CPUs = o.CPUs[:1]
	if _, err := MeasureLoaded(context.Background(), o); err == nil {
		t.Error("one CPU chases and streams")
	}
}
