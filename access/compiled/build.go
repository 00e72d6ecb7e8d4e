package compiled

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

//go:embed runtime/accesses.c
var runtimeSource []byte

// Command returns a compiler's command whose program reports its accesses to [Program.Run]. Args
// begin with the compiler: gcc, g++, gfortran, clang, clang++ or a version of these. Unless it only
// compiles, the command links a runtime, whose files stay in dir until it ends. Clang links none
// into a shared library, which calls the program's.
func Command(ctx context.Context, dir string, args []string) (*exec.Cmd, error) {
	if _, err := exec.LookPath(args[0]); err != nil {
		return nil, fmt.Errorf("no compiler %s: %w", args[0], err)
	}
	all := append(slices.Clone(args[1:]), "-g", "-fsanitize=thread")
	clang := strings.Contains(filepath.Base(args[0]), "clang")
	if clang {
		all = append(all, "-fno-sanitize-link-runtime", "-Qunused-arguments",
			"-mllvm", "-tsan-instrument-read-before-write", // else a[i]++ is one access
			"-gdwarf-4") // debug/dwarf reads its addresses of variables
	}
	switch amd64 := runtime.GOARCH == "amd64"; {
	case amd64 && clang: // Clang reports accesses of at most 16 B
		all = append(all, "-mprefer-vector-width=128")
	case amd64: // else GCC expands memset and memcpy inline
		all = append(all, "-mstringop-strategy=libcall", "-fno-builtin-memset")
	}
	switch {
	case !links(args), clang && slices.Contains(args, "-shared"):
		return compiler(ctx, args[0], all...), nil
	case clang:
		all = append(all, "-x", "none", filepath.Join(dir, runtimeObject))
	default: // GCC links the first libtsan_preinit.o that it finds, and libtsan
		all = append(all, "-B"+dir, "-L"+dir)
	}
	return compiler(ctx, args[0], all...), buildRuntime(ctx, args[0], dir)
}

// compiler returns a command that the context interrupts, so that it removes its temporary files.
func compiler(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return cmd
}

func links(args []string) bool {
	inputs := false
	for _, arg := range args[1:] {
		switch arg {
		case "-c", "-S", "-E", "-M", "-MM":
			return false
		}
		inputs = inputs || !strings.HasPrefix(arg, "-")
	}
	return inputs
}

// runtimeObject is what GCC links with -fsanitize=thread in addition to libtsan.
const runtimeObject = "libtsan_preinit.o"

// buildRuntime compiles the runtime, with an empty libtsan.
func buildRuntime(ctx context.Context, name, dir string) error {
	source := filepath.Join(dir, "runtime.c")
	if err := os.WriteFile(source, runtimeSource, 0o600); err != nil {
		return err
	}
	cmd := compiler(ctx, name, "-O2", "-fPIC", "-fno-builtin", "-w",
		"-x", "c", "-c", source, "-o", filepath.Join(dir, runtimeObject))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compiling the runtime by %s: %w\n%s", cmd.Path, err, out)
	}
	return os.WriteFile(filepath.Join(dir, "libtsan.a"), []byte("!<arch>\n"), 0o600)
}
