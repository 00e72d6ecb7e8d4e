package trace_test

import (
	"fmt"
	"strings"

	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/trace"
)

// Another program's accesses are simulated on caches of your own.
func Example() {
	// 1. Get a trace: valgrind --tool=lackey --trace-mem=yes PROGRAM. Here, four elements a line
	// apart are read and written, twice.
	pass := " M 00010000,4\n M 00010040,4\n M 00010080,4\n M 000100c0,4\n"

	// 2. Read it, access by access, gzipped or plain.
	records := trace.Records(strings.NewReader(pass+pass), "sum.trace")

	// 3. Simulate it: a D1 of two lines evicts what is touched again, LL holds it.
	config := simcache.Config{Levels: simcache.TwoLevels(
		simcache.Geometry{Size: 128, Ways: 2, Line: 64}, simcache.Geometry{Size: 4096, Ways: 4, Line: 64})}
	caches, err := simcache.NewHierarchy(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := trace.Feed(caches, config, records); err != nil {
		fmt.Println(err)
		return
	}
	counts := caches.Counts()
	fmt.Println(counts.Refs(), "references,", counts.D1Misses(), "miss in D1,", counts.LLMisses(), "in LL")

	// 4. An error names the file and the line.
	bad := trace.Records(strings.NewReader(" L 10000,4\n L 10040\n"), "bad.trace")
	if _, err := trace.Feed(caches, config, bad); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 8 references, 8 miss in D1, 4 in LL
	// bad.trace:2: "L 10040" is not an access (want I, L, S or M with hex address,size as lackey writes it, or a label 0 to 2 and a hex address as din has them; of 1 to 65536 B within 64 bits of address)
}
