package results_test

import (
	"bytes"
	"fmt"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/keys"
	"github.com/stridebench/stridebench/results/show"
)

// Write samples as a file, read the file, and sum it up: the way of a result
// from a clock to a table.
func Example() {
	// 1. The head of a file says what was measured on, and what was simulated.
	var file bytes.Buffer
	w, err := results.NewWriter(&file, []results.Pair{
		{Key: "goos", Value: "linux"}, {Key: "cpu", Value: "a CPU"},
		{Key: keys.Caches, Value: "L1d=32768,8,64 L2=524288,8,64"},
		{Key: keys.D1, Value: "32768,8,64"},
	}, []results.Pair{{Key: "date", Value: "2026-11-21T12:00:00Z"}})
	if err != nil {
		fmt.Println(err)
		return
	}

	// 2. Each sample is a line.
	for _, ns := range []float64{1300, 1250, 1275, 1260, 1290, 1280} {
		err = w.Write("Traverse/op=sum/order=row/shape=64x64/dtype=int32/kernel=scalar", 500,
			[]results.Value{
				{Value: ns, Unit: "ns/op"}, {Value: 256, Unit: "D1-misses/op"}})
		if err != nil {
			fmt.Println(err)
			return
		}
	}

	// 3. Read does the same with files on disk.
	set, err := results.Parse("run.txt", file.Bytes())
	if err != nil {
		fmt.Println(err)
		return
	}

	// 4. The configuration tells whether results compare, and what they are of.
	config, err := set.Config()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range results.SetupOf(config).Caches {
		fmt.Printf("%s has %s in %d ways\n", c.Name, show.Bytes(c.Size), c.Ways)
	}

	// 5. A row is a benchmark with the statistics of its samples.
	rows := set.Rows()
	for _, r := range rows {
		time, misses := r.Stats["sec/op"], r.Stats["D1-misses/op"]
		fmt.Printf("%s by %s: %s (%s to %s, %d samples), %.0f misses\n", r.Family(), r.Key("order"),
			show.Scale(time.Center, "sec/op"), show.Scale(time.Lo, "sec/op"),
			show.Scale(time.Hi, "sec/op"), time.N, misses.Center)
	}
	// Output:
	// L1d has 32 KiB in 8 ways
	// L2 has 512 KiB in 8 ways
	// Traverse by row: 1.278 µs/op (1.250 µs/op to 1.300 µs/op, 6 samples), 256 misses
}

// What decides whether two files compare, and in which keys they differ.
func ExampleFingerprintOf() {
	here := map[string]string{"goos": "linux", "cpu": "one CPU", "cpus": "2", "goversion": "go1.26.0",
		"sim-d1": "32768,8,64"}
	there := map[string]string{"goos": "linux", "cpu": "another", "cpus": "2", "goversion": "go1.26.1",
		"sim-d1": "49152,12,64"}
	fmt.Println("times:", results.FingerprintOf(here).Differ(results.FingerprintOf(there)))
	fmt.Println("counts:", results.GeometryOf(here).Differ(results.GeometryOf(there)))
	// Output:
	// times: [cpu ("one CPU" and "another")]
	// counts: [sim-d1 ("32768,8,64" and "49152,12,64")]
}
