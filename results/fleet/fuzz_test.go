package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzRead: whatever is read of machines can be judged, each benchmark of each.
func FuzzRead(f *testing.F) {
	one := "goos: linux\ncpu: A\nhost: n1\nUnit ns/op better=lower\n\nBenchmarkA 1 10 " +
		"ns/op\nBenchmarkB/size=1MiB 1 20 ns/op 3 hw-cycles/op\n\nhost: n2\n\nBenchmarkA 1 11 " +
		"ns/op\n"
	f.Add(one)
	f.Add(strings.ReplaceAll(one, "10 ns/op", "0 ns/op"))
	f.Add(strings.ReplaceAll(one, "11 ns/op", "+Inf ns/op"))
	f.Add("host: a\nBenchmarkA 1 -5 ns/op\n# node: x\n# end: 1 results\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "f.txt")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		m, err := Read("host", nil, nil, path)
		if err != nil {
			return
		}
		for _, one := range m.Machines {
			if len(one.Cells) != len(m.Benchmarks) {
				t.Errorf("%s has %d of %d benchmarks", one.Name, len(one.Cells), len(m.Benchmarks))
			}
		}
		m.Judge(0.01)
		m.Ratios()
	})
}
