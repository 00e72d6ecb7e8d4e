package csource_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/stridebench/stridebench/access/csource"
)

// logger is what GCC's instrumentation for races calls at each access to memory that is no
// variable in a register, and a function that is in no other file. The text of the programs
// themselves is compiled as it is.
const logger = `#include <stdint.h>
#include <stdio.h>
#define PLAIN __attribute__((no_sanitize("thread")))
PLAIN static void log_put(uint64_t v) { fwrite(&v, 8, 1, stdout); }
#define AT(n) \
	PLAIN void __tsan_read##n(void *p) { log_put((uint64_t)p | n##ull << 48); } \
	PLAIN void __tsan_write##n(void *p) { log_put((uint64_t)p | n##ull << 48 | 1ull << 63); } \
	PLAIN void __tsan_unaligned_read##n(void *p) { __tsan_read##n(p); } \
	PLAIN void __tsan_unaligned_write##n(void *p) { __tsan_write##n(p); }
AT(1) AT(2) AT(4) AT(8) AT(16)
void __tsan_init(void) {}
void __tsan_func_entry(void *p) {}
void __tsan_func_exit(void) {}
double given(int p, ...) { return p; }
`

// A program is C text of which a function is read, and which GCC compiles.
type program struct {
	name, function string
	head           string // of several programs, which have no other name in common
	text           string
	compiled       string // more text, for the compiler; its function run is the one that runs
	file           *csource.File
}

// newProgram reads a function of a text.
func newProgram(t *testing.T, name, function, text string, defines ...string) *program {
	t.Helper()
	text, compiled, _ := strings.Cut(text, "// compiled\n")
	opts := csource.Options{Function: function, Defines: defines}
	f, err := csource.Read(name, []byte(text), opts)
	if err != nil {
		t.Fatal(err)
	}
	return &program{name: name, function: function, text: text, compiled: compiled, file: f}
}

var (
	words = regexp.MustCompile(`#\s*include.*|\b[A-Za-z_]\w*`)
	// known are words that are the same in all programs: C's, and names of headers.
	known = regexp.MustCompile(`^(#.*|__.*|u?int\d+_t|size_t|NULL|a?tanh?f?|sinf?|cosf?|expf?|` +
		`sqrtf?|powf?|fabsf?|fm(ax|in)f?|hypotf?|erff?|logf?|atan2f?|abs|auto|break|case|char|const|` +
		`continue|default|do|double|else|enum|extern|float|for|goto|if|inline|int|long|register|` +
		`restrict|return|short|signed|sizeof|static|struct|switch|typedef|union|unsigned|void|` +
		`volatile|while|_Bool|define|undef|ifdef|ifndef|endif|elif|error|pragma|defined|once|typeof)$`)
)

// compare compares what is read of programs with what they do when GCC has compiled them, all in
// one file: of those without a head the names get a number.
func compare(t *testing.T, programs []*program) {
	t.Helper()
	text, calls, heads := logger, "", map[string]bool{}
	for n, p := range programs {
		numbered := func(text string) string {
			return words.ReplaceAllStringFunc(text, func(word string) string {
				if len(programs) == 1 || p.head != "" || known.MatchString(word) {
					return word
				}
				return fmt.Sprint(word, "_", n)
			})
		}
		if !heads[p.head] {
			text += p.head
			heads[p.head] = true
		}
		text += numbered(p.text+p.compiled) + "\n"
		for _, a := range p.file.Arrays {
			calls += "\tlog_put((uint64_t)&" + numbered(a.Name) + ");\n"
		}
		run := p.function
		if p.compiled != "" {
			run = "run"
		}
		calls += fmt.Sprintf("\tlog_put(-2); %s(); log_put(-2);\n", numbered(run))
	}
	text += "PLAIN int main(void) {\n" + calls + "\treturn 0;\n}\n"
	out := output(t, text, "gcc", "-fsanitize=thread", "-xc", "-nodefaultlibs")
	list := readLogged(t, out, 2*len(programs))
	for n, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			same(t, p.file, within(p.file, list[2*n].accesses, list[2*n+1].accesses))
			if t.Failed() {
				t.Logf("of\n%s", p.text)
			}
		})
	}
}

// within are the accesses to the arrays of a file, as it has them. They begin at bases.
func within(f *csource.File, bases, all []access) (in []access) {
	for _, a := range all {
		for i, array := range f.Arrays {
			if at := a.addr - bases[i].addr; at < uint64(bytesOf(array)) {
				a.addr = array.Base + at
				in = append(in, a)
			}
		}
	}
	return in
}

// TestCompiled: programs of many fields make the accesses that they make when GCC has compiled
// them, and those of a function plain, without pointers or steps, where a file has one.
func TestCompiled(t *testing.T) {
	var programs []*program
	for folder, function := range map[string]string{"pointers": "", "fields": "kernel"} {
		paths, err := filepath.Glob("testdata/" + folder + "/*.c")
		if err != nil || len(paths) < 5 {
			t.Fatal(paths, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			p := newProgram(t, path, cmp.Or(function, folder), string(text))
			programs = append(programs, p)
			if !strings.Contains(p.text, "void plain(") {
				continue
			}
			plain := newProgram(t, path, "plain", p.text)
			if a, b := walked(p.file), walked(plain.file); a != b {
				t.Errorf("%s does\n%.2000s\nwithout pointers\n%.2000s", path, a, b)
			}
		}
	}
	compare(t, append(programs, programsOf(t, "parameters")...))
	for _, p := range programsOf(t, "macros") {
		compare(t, []*program{p})
	}
	builtins, err := txtar.ParseFile("testdata/builtins.txtar")
	if err != nil {
		t.Fatal(err)
	}
	head, statements := string(builtins.Files[0].Data), builtins.Files[1].Data
	programs = nil
	for line := range strings.Lines(string(statements)) {
		p, err := readDrawn(len(programs), head, "int n = 1; "+line)
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, p)
	}
	compare(t, programs)
}

// readDrawn reads a function f, or of a statement after a head one that has a number.
func readDrawn(n int, head, text string) (*program, error) {
	p := &program{name: fmt.Sprint(n), function: "f", head: head, text: text}
	if head != "" {
		p.function = fmt.Sprint("f", n)
		p.text = "void " + p.function + "(void) { " + text + "; }"
	}
	var err error
	p.file, err = csource.Read("t.c", []byte(p.head+p.text), csource.Options{Function: p.function})
	return p, err
}

// programsOf reads a file of programs. The name of each has its function, and defines.
func programsOf(t *testing.T, name string) (programs []*program) {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		words := strings.Fields(f.Name)
		programs = append(programs, newProgram(t, f.Name, words[0], string(f.Data), words[1:]...))
	}
	return programs
}

// onData is how a condition on data is compiled of which both arms are counted.
const onData = `
#define BOTH(c, a, b) ({ typeof(c) c_ = (c); typeof(a) a_ = (a); typeof(b) b_ = (b); c_ ? a_ : b_; })
`

var conditionOnData = regexp.MustCompile(`(?m)( = |\) \()(.+) \? (.+) : (.+?)(;|\))$`)

// TestPolyBenchOrder: the accesses at MINI, and their order, are those of the compiled program.
func TestPolyBenchOrder(t *testing.T) {
	var programs []*program
	for _, k := range kernels(t) {
		text := string(kernelText(t, k.name))
		head := kernelHead.FindStringSubmatch(text)
		p := newProgram(t, k.name, head[1], text, strings.Fields(k.mini)...)
		p.text = onData
		for _, define := range strings.Fields(k.mini) {
			p.text += "#define " + strings.Replace(define, "=", " ", 1) + "\n"
		}
		p.text += conditionOnData.ReplaceAllString(text, "${1}BOTH($2, $3, $4)$5")
		args := regexp.MustCompile(`\w+ \w+`).ReplaceAllString(head[2], "1")
		p.compiled = fmt.Sprintf("\nvoid run(void) { %s(%s); }", head[1],
			strings.TrimPrefix(args, "void"))
		programs = append(programs, p)
	}
	compare(t, programs)
}
