package tune_test

import (
	"fmt"

	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/access/tune"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// Read what a calibration found (tune.Measure makes one, in less than two seconds).
func Example() {
	c, err := tune.Parse([]byte(`{"Version": 9, "CPU": "amd64 Some CPU", "Date": "2026-01-01T00:00:00Z",
"Sets": {"avx512": {"Runs": 8388608, "Tiles": 2097152, "Narrow": 9223372036854775807,
"Blocks": 9223372036854775807, "Ahead": 4, "Reads": 9223372036854775807, "ReadsAhead": 16384}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Sets["avx512"])
	if c.Of(tune.Identity("Another CPU", cpu.Caches())) { // then it says what is best here
		c.Apply()
	}
	set, _ := kernel.ByName("avx512")
	fmt.Println(set.Tuning())
	// Output:
	// past caches: runs 8MiB tiles 2MiB narrow never blocks never; ahead: 4
	// past caches: runs 32MiB tiles 32MiB narrow 32MiB blocks 32MiB; ahead: 2
}
