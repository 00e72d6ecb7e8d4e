package trace_test

import (
	"bytes"
	"fmt"

	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/trace"
)

// What another program touched, replayed through caches of one's own.
func Example() {
	// 1. Get a trace: valgrind --tool=lackey --trace-mem=yes PROGRAM, or write
	// one. Here, four elements are read and written a line apart, twice.
	var file bytes.Buffer
	w := trace.NewWriter(&file, trace.Lackey)
	for range 2 {
		for i := range uint64(4) {
			if err := w.Write(trace.Record{Kind: trace.Modify, Addr: 0x10000 + 64*i, Size: 4}); err != nil {
				fmt.Println(err)
				return
			}
		}
	}
	if err := w.Flush(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.14s", file.String())

	// 2. Read it, access by access, gzipped or plain.
	records := trace.Records(&file, "sum.trace")

	// 3. Replay it: a D1 of two lines loses what comes again, LL keeps it.
	config := simcache.Config{Levels: simcache.TwoLevels(
		simcache.Geometry{Size: 128, Ways: 2, Line: 64}, simcache.Geometry{Size: 4096, Ways: 4, Line: 64})}
	counts, err := trace.Replay(config, records)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(counts.Refs(), "references,", counts.D1Misses(), "miss in D1,", counts.LLMisses(), "in LL")

	// 4. What is no trace is an error with file and line.
	if _, err := trace.Replay(config, trace.Records(bytes.NewBufferString(" L 10000,4\n L 10040\n"), "bad.trace")); err != nil {
		fmt.Println(err)
	}
	// Output:
	// M 00010000,4
	// 8 references, 8 miss in D1, 4 in LL
	// bad.trace:2: "L 10040" is not an access (want I, L, S or M with hex address,size as lackey writes it, or a label 0 to 2 and a hex address as din has them; of 1 to 65536 B within 64 bits of address)
}
