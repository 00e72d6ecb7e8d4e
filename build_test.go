package stridebench

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// A build is bench of this tree, which is linked once for all tests.
type build struct {
	once sync.Once
	path string
	out  []byte
	err  error
}

var built build

func TestMain(m *testing.M) {
	code := m.Run()
	if built.path != "" {
		os.RemoveAll(filepath.Dir(built.path))
	}
	os.Exit(code)
}

// bench is the path of bench, with which $PATH begins until the test ends.
func bench(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		var dir string
		if dir, built.err = os.MkdirTemp("", "bench"); built.err != nil {
			return
		}
		built.path = filepath.Join(dir, "bench")
		built.out, built.err = exec.Command("go", "build", "-o", built.path,
			"./cmd/bench").CombinedOutput()
	})
	if built.err != nil {
		t.Fatalf("%v\n%s", built.err, built.out)
	}
	t.Setenv("PATH", filepath.Dir(built.path)+string(os.PathListSeparator)+os.Getenv("PATH"))
	return built.path
}
