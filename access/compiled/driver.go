package compiled

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Compilers are the commands that build source files, by suffix.
var Compilers = map[string]string{
	".c": "gcc", ".cc": "g++", ".cpp": "g++", ".cxx": "g++", ".C": "g++",
	".f": "gfortran", ".f90": "gfortran", ".F90": "gfortran",
}

// A Task is a function of a source file that is built with what calls it.
type Task struct {
	Path     string   // of the file
	Compiler []string // and its options
	Function string
	Macros   []string // NAME=VALUE
	// Values are those of parameters and variables, "n" or "p->n", and Sizes how much
	// parameters point to, "n*n" or, of pointers to rows, "n][m".
	Values  map[string]int
	Sizes   map[string]string
	Folders []string // of headers
	Passes  int      // calls of the function, from 1 on
}

// A Driver is how a function is called.
type Driver struct {
	Main       bool     // by the program's own main
	Parameters []string // those that are arrays, in their order, which are zeros
}

// Build builds a program at a path, in a folder that other files go to, too. The main of the
// file calls the function, unless the task gives values to the function's parameters or the
// file has none: then a main of ours calls it.
func (t Task) Build(ctx context.Context, path string) (d Driver, err error) {
	parameters, hasMain, err := t.parameters(ctx)
	if err != nil {
		return d, err
	}
	if hasMain && len(t.Values)+len(t.Sizes) == 0 {
		if t.Passes > 1 {
			return d, fmt.Errorf(
				"%d passes: %s has a main, which runs once and calls %s as it does", t.Passes,
				t.Path, t.Function)
		}
		return Driver{Main: true}, t.compile(ctx, t.Path, path)
	}
	w := driverWriter{task: t, values: maps.Clone(t.Values), sizes: maps.Clone(t.Sizes)}
	if err := w.write(parameters); err != nil {
		return d, err
	}
	source := path + filepath.Ext(t.Path)
	if err := os.WriteFile(source, w.text.Bytes(), 0o600); err != nil {
		return d, err
	}
	return Driver{Parameters: w.arrays}, t.compile(ctx, source, path)
}

// compile builds a file with the task's options.
func (t Task) compile(ctx context.Context, source, path string) error {
	args := slices.Concat(t.Compiler, t.options(), []string{"-w", source, "-o", path, "-lm"})
	if filepath.Ext(t.Path) == ".c" {
		args = append(args, "-Dconst=") // no reads of constants are reported
	}
	cmd, err := Command(ctx, filepath.Dir(path), args)
	if err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s does not compile it: %s", t.Compiler[0], firstError(out, err))
	}
	return nil
}

// options are those of macros and folders.
func (t Task) options() (all []string) {
	for _, m := range t.Macros {
		all = append(all, "-D"+m)
	}
	for _, dir := range t.Folders {
		all = append(all, "-I"+dir)
	}
	return all
}

// firstError returns the first line of a compiler's output that names an error.
func firstError(out []byte, err error) string {
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "error") || strings.Contains(line, "undefined reference") {
			return strings.TrimSpace(line)
		}
	}
	return strings.TrimSpace(string(out) + err.Error())
}

// A parameter is a function's, as the preprocessor leaves it: its name, and the text before and
// after the name.
type parameter struct{ before, name, after string }

var (
	mainOf    = regexp.MustCompile(`\bmain\s*\([^()]*\)\s*\{`)
	declared  = regexp.MustCompile(`^(.*[\s*&(])(\w+)(\)?\s*(?:\[.*)?)$`)
	realType  = regexp.MustCompile(`\b(float|double|_Complex)\b`)
	qualifier = regexp.MustCompile(`\b(restrict|__restrict|__restrict__|const|static|volatile)\b`)
)

// parameters finds the definition of the function in the text that the compiler sees.
func (t Task) parameters(ctx context.Context) (all []parameter, hasMain bool, err error) {
	args := slices.Concat(t.Compiler[1:], t.options(), []string{"-E", "-P", "-w", t.Path})
	var failed bytes.Buffer
	cmd := compiler(ctx, t.Compiler[0], args...)
	cmd.Stderr = &failed
	text, err := cmd.Output()
	if err != nil {
		return nil, false, fmt.Errorf("%s: %s", t.Compiler[0], firstError(failed.Bytes(), err))
	}
	hasMain = mainOf.Match(text)
	own := t.Function[strings.LastIndexByte(t.Function, ':')+1:]
	defined := false
	for _, at := range regexp.MustCompile(`\b`+own+`\s*\(`).FindAllIndex(text, -1) {
		list, after := bracketed(string(text[at[1]:]))
		if !strings.HasPrefix(strings.TrimSpace(after), "{") {
			continue
		}
		if defined {
			return nil, hasMain, fmt.Errorf("%s is defined more than once: write a main that "+
				"calls the one that is meant, and use --exec", t.Function)
		}
		defined = true
		for _, p := range list {
			p, _, _ = strings.Cut(p, "=") // it has a default value
			if p = strings.Join(strings.Fields(p), " "); p == "" || p == "void" {
				continue
			}
			m := declared.FindStringSubmatch(p)
			if m == nil {
				return nil, hasMain, fmt.Errorf("%s(%s): want a parameter with a name",
					t.Function, p)
			}
			all = append(all, parameter{m[1], m[2], m[3]})
		}
	}
	if !defined && !hasMain { // which may call what a template or another language has
		err = fmt.Errorf("%s has no function %s", t.Path, t.Function)
	}
	return all, hasMain, err
}

// bracketed parts a text at the commas up to the end of its bracket, and from what follows it.
func bracketed(text string) (parts []string, after string) {
	depth, from := 0, 0
	for i, c := range text {
		switch {
		case depth == 0 && (c == ',' || c == ')'):
			parts = append(parts, text[from:i])
			if from = i + 1; c == ')' {
				return parts, text[from:]
			}
		case strings.ContainsRune("([{", c):
			depth++
		case strings.ContainsRune(")]}", c):
			depth--
		}
	}
	return nil, ""
}

// A driverWriter writes a main that allocates what a function's parameters point to, which is
// zeros, and calls the function.
type driverWriter struct {
	task   Task
	values map[string]int    // not used yet
	sizes  map[string]string // and these
	text   bytes.Buffer
	arrays []string
}

// ParameterFile is the file in whose n-th line the n-th array of a driver is allocated.
const ParameterFile = "<parameters>"

func (w *driverWriter) write(parameters []parameter) error {
	path, err := filepath.Abs(w.task.Path)
	if err != nil {
		return err
	}
	fmt.Fprintf(&w.text, "#define main not_called\n#include %q\n#undef main\nint main(void) {\n",
		path)
	arguments := make([]string, len(parameters))
	for _, arrays := range []bool{false, true} { // which have extents of the others
		for i, p := range parameters {
			isArray := strings.ContainsAny(p.before+p.after, "*[") || w.sizes[p.name] != ""
			switch {
			case strings.Contains(p.before, "<"):
				return fmt.Errorf("%s is an object: write a main that makes one and calls %s, "+
					"and use --exec",
					p.name, w.task.Function)
			case isArray != arrays:
			case isArray:
				arguments[i], err = w.array(p)
			default:
				arguments[i], err = p.name, w.scalar(p)
			}
			if err != nil {
				return err
			}
		}
	}
	// of fields, and of the file's variables
	for _, name := range slices.Sorted(maps.Keys(w.values)) {
		fmt.Fprintf(&w.text, "%s = %d;\n", name, w.values[name])
	}
	for name, size := range w.sizes {
		return fmt.Errorf("-D '%s[%s]': %[1]s is no pointer among the parameters of %[3]s",
			name, size, w.task.Function)
	}
	fmt.Fprintf(&w.text, "__typeof__(%s) *volatile call = %[1]s;\n"+
		"for (int pass = 0; pass < %d; pass++) call(%s);\nreturn 0; }\n",
		w.task.Function, w.task.Passes, strings.Join(arguments, ", "))
	return nil
}

// hasField reports whether a value is given for a field whose name begins with a text.
func (w *driverWriter) hasField(begins string) bool {
	for key := range w.values {
		if strings.HasPrefix(key, begins) {
			return true
		}
	}
	return false
}

// scalar declares a parameter that has a value.
func (w *driverWriter) scalar(p parameter) error {
	number, given := w.values[p.name]
	value := strconv.Itoa(number)
	switch {
	case given, realType.MatchString(p.before):
	case w.hasField(p.name + "."):
		value = "{0}"
	default:
		return fmt.Errorf("the value of %s is not known: give it by -D %[1]s=1000, or by "+
			"-D '%[1]s[1000]' if it points to so many", p.name)
	}
	delete(w.values, p.name)
	fmt.Fprintf(&w.text, "%s%s = %s;\n", strings.ReplaceAll(p.before, "&", ""), p.name, value)
	return nil
}

// array allocates what a parameter points to, an array of its extents or of the size given, and
// returns what the function is called with.
func (w *driverWriter) array(p parameter) (argument string, err error) {
	size := w.sizes[p.name]
	delete(w.sizes, p.name)
	w.arrays = append(w.arrays, p.name)
	isPointer := strings.Contains(p.before, "*") || p.after == ""
	if isPointer && strings.HasPrefix(p.after, "[") { // an array of pointers is one to the first
		_, p.after, _ = strings.Cut(p.after, "]")
		p.before += "*"
	}
	extent, rest, _ := strings.Cut(strings.TrimPrefix(p.after, "["), "]")
	switch {
	case size != "":
	case !isPointer:
		size = strings.TrimSpace(qualifier.ReplaceAllString(extent, ""))
	case w.hasField(p.name + "->"):
		size = "1"
	}
	rows, columns, isRows := strings.Cut(size, "][")
	if size == "" || strings.Contains(p.before, "**") && !isRows {
		return "", fmt.Errorf("how much %s points to is not known: give it by -D '%[1]s[1000]', "+
			"or '%[1]s[100][100]' if that is pointers", p.name)
	}
	line := fmt.Sprintf("#line %d %q\n", len(w.arrays), ParameterFile)
	if !isPointer {
		fmt.Fprintf(&w.text, "typedef %s the_%s[%s]%s;\n%[5]s"+
			"the_%[2]s *%[2]s = (the_%[2]s *)__builtin_calloc(1, sizeof *%[2]s);\n",
			p.before, p.name, size, rest, line)
		return "*" + p.name, nil
	}
	fmt.Fprintf(&w.text, "%s%s%s%s = (__typeof__(%[3]s))__builtin_calloc(%[5]s, sizeof *%[3]s);\n",
		line, p.before, p.name, p.after, rows)
	if isRows {
		fmt.Fprintf(&w.text, "for (long row = 0; row < %s; row++)\n"+
			"%s%s[row] = (__typeof__(*%[3]s))__builtin_calloc(%[4]s, sizeof **%[3]s);\n",
			rows, line, p.name, columns)
	}
	return p.name, nil
}
