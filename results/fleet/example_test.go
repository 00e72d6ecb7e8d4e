package fleet_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/stridebench/stridebench/results/fleet"
)

// One of nine machines takes a third longer.
func Example() {
	dir, err := os.MkdirTemp("", "fleet")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	text := "cpu: Example 9000\n"
	for i, ns := range []int{100, 101, 99, 100, 133, 102, 100, 98, 101} {
		text += fmt.Sprintf("host: node%d\nBenchmarkA 1 %d ns/op 100 D-refs/op 50 LL-misses/op\nBenchmarkB 1 %d ns/op 100 D-refs/op 0 LL-misses/op\n", i+1, ns, ns)
	}
	path := filepath.Join(dir, "fleet.txt")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		fmt.Println(err)
		return
	}
	m, err := fleet.Read("host", nil, nil, path)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range m.Judge(0.05).Findings {
		fmt.Printf("%s: %v %.2f\n%s\n", m.Machines[f.Machine].Name, f.Aspect, f.Ratio, f.Why)
	}
	// Output:
	// node5: all 1.33
	// caches and memory are both slow: look at its clock, such as a thermal or power limit, or a core that another shares
}
