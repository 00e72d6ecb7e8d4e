package cpu_test

import (
	"fmt"

	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/cpu"
)

// What is simulated for a CPU that states these caches.
func Example() {
	// 1. cpu.Caches() says what this CPU has; here those of another one.
	caches := []cpu.Cache{
		{Level: 1, Type: "Data", Geometry: simcache.Geometry{Size: 48 << 10, Ways: 12, Line: 64}, Source: "sysfs"},
		{Level: 2, Type: "Unified", Geometry: simcache.Geometry{Size: 2 << 20, Ways: 16, Line: 64}, Source: "sysfs"},
	}
	// 2. The first level and the last are simulated, as Cachegrind does.
	config := cpu.Choose(caches)
	for _, l := range config.Levels {
		fmt.Println(l.Name, l.Geometry, "from", l.Source)
	}
	// 3. What nobody states is a documented default.
	fmt.Println("I1", config.I1, "from", config.I1Source)
	// Output:
	// D1 49152,12,64 from sysfs
	// LL 2097152,16,64 from sysfs
	// I1 32768,8,64 from default
}
