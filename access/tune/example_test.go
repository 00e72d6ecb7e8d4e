package tune_test

import (
	"fmt"

	"github.com/stridebench/stridebench/access/kernel"
	"github.com/stridebench/stridebench/access/tune"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// Read what a calibration found (tune.Measure makes one, in less than two seconds).
func Example() {
	c, err := tune.Parse("kernels.yaml", []byte(`
version: 8
cpu: amd64 Some CPU
date: 2026-01-01T00:00:00Z
sets:
  avx512: {runs: 8MiB, tiles: 2MiB, narrow: never, blocks: never, ahead: 4, reads: never, reads-ahead: 16KiB}
`))
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
