package csource_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access/csource"
	"github.com/stridebench/stridebench/layouts/nest"
)

// An access is what a program does: so many bytes at an address.
type access struct {
	addr  uint64
	bytes int
	write bool
}

// A logged program is what a C++ compiler makes of the text of a C file in which
// arrays and scalars log what is done to them.
type logged struct {
	accesses []access
	outside  bool // it ended at an index outside of its extent
	endless  bool // it was ended, as it did not end
}

var (
	arrayLine   = regexp.MustCompile(`(?m)^(?:static )?(char|short|int|float|double|long long) (\w+(?:\[[^;{]*)?)( = [^;]*)?;`)
	scalarType  = regexp.MustCompile(`\b(?:double|float)\b`)
	definedName = regexp.MustCompile(`(?m)^#[ ]*define (\w+)`)
	kernelHead  = regexp.MustCompile(`(?m)^void (\w+)\(([^)]*)\)`)
	widths      = map[string]int{"char": 1, "short": 2, "int": 4, "float": 4, "double": 8,
		"long long": 8}
)

// splitArrays splits declarators at the commas outside of brackets.
func splitArrays(list string) []string {
	var parts []string
	depth, start := 0, 0
	for i, c := range list {
		switch c {
		case '[', '(':
			depth++
		case ']', ')':
			depth--
		case ',':
			if depth == 0 {
				parts, start = append(parts, list[start:i]), i+1
			}
		}
	}
	return append(parts, list[start:])
}

// instrumented is the C text as C++ in which arrays are declared as objects.
func instrumented(text string) string {
	text = arrayLine.ReplaceAllStringFunc(text, func(line string) string {
		m := arrayLine.FindStringSubmatch(line)
		if !strings.Contains(m[2], "[") {
			return line
		}
		out := ""
		for _, d := range splitArrays(m[2]) {
			name, extents, _ := strings.Cut(strings.TrimSpace(d), "[")
			extents = strings.TrimSuffix(extents, "]")
			out += fmt.Sprintf("Array %s(%d, {%s}); ", name, widths[m[1]],
				strings.ReplaceAll(extents, "][", ", "))
		}
		return out
	})
	return scalarType.ReplaceAllString(text, "S")
}

// output is what the program of a text writes.
func output(t *testing.T, text, compiler string, flags ...string) []byte {
	t.Helper()
	compiler, err := exec.LookPath(compiler)
	if err != nil {
		t.Skip("no compiler to compare with")
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "a.cc"), filepath.Join(dir, "a.out")
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	flags = append(flags, source, "-w", "-O0", "-o", program, "-lm", "-lc", "-lgcc")
	if out, err := exec.Command(compiler, flags...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.4000s", err, out)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// runLogged compiles all texts into one program and runs it.
func runLogged(t *testing.T, texts []string) []logged {
	t.Helper()
	header, err := filepath.Abs("testdata/oracle.h")
	if err != nil {
		t.Fatal(err)
	}
	var b, calls strings.Builder
	fmt.Fprintf(&b, "#include %q\n", header)
	for i, text := range texts {
		text = regexp.MustCompile(`(?m)^#include.*$`).ReplaceAllString(text, "")
		head := kernelHead.FindStringSubmatch(text)
		if head == nil {
			t.Fatalf("no function in\n%s", text)
		}
		args := "S()"
		if n := strings.Count(head[2], ","); head[2] == "void" {
			args = ""
		} else {
			args += strings.Repeat(", S()", n)
		}
		fmt.Fprintf(&b, "namespace k%d {\nBegin begin;\n%s\nvoid run() { %s(%s); }\n}\n", i,
			instrumented(text), head[1], args)
		for _, m := range definedName.FindAllStringSubmatch(text, -1) {
			fmt.Fprintf(&b, "#undef %s\n", m[1])
		}
		fmt.Fprintf(&calls, "\ttry { k%d::run(); } catch (int) {}\n\tfinish();\n", i)
	}
	fmt.Fprintf(&b, "int main() {\n%s}\n", calls.String())
	return readLogged(t, output(t, b.String(), "g++", "-std=c++17"), len(texts))
}

func readLogged(t *testing.T, out []byte, programs int) []logged {
	t.Helper()
	const outside = ^uint64(0)
	list := []logged{{}}
	for r := bytes.NewReader(out); r.Len() > 0; {
		var word [8]byte
		if _, err := r.Read(word[:]); err != nil {
			t.Fatal(err)
		}
		last := &list[len(list)-1]
		switch v := binary.LittleEndian.Uint64(word[:]); v {
		case outside:
			last.outside = true
		case outside - 2:
			last.endless = true
		case outside - 1:
			list = append(list, logged{})
		default:
			last.accesses = append(last.accesses,
				access{v & (1<<48 - 1), int(v >> 48 & 0xff), v>>63 != 0})
		}
	}
	if list = list[:len(list)-1]; len(list) != programs {
		t.Fatalf("%d programs ran, of %d", len(list), programs)
	}
	return list
}

// same compares a file's program with what was logged.
func same(t *testing.T, f *csource.File, want []access) {
	t.Helper()
	operands := f.Program.Operands()
	i := 0
	for op, addr := range f.Program.Accesses() {
		o, of := operands[op], f.Accesses[op]
		got := access{addr, o.Width, o.Kind == nest.Write}
		if i >= len(want) || got != want[i] {
			t.Fatalf("access %d is %+v (%s at %v), compiled %+v",
				i, got, of.Text, of.Pos, want[min(i, len(want)):min(i+1, len(want))])
		}
		i++
	}
	if i != len(want) {
		t.Fatalf("%d accesses, compiled %d", i, len(want))
	}
	if n, err := f.Program.Count(); err != nil || n != i {
		t.Fatalf("counted %d accesses (%v) of %d", n, err, i)
	}
}
