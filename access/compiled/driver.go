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
	Values, Sizes map[string]string
	Folders       []string // of headers
	Passes        int      // calls of the function
}

// A Driver is how a function is called.
type Driver struct {
	Main       bool     // by the program's own main
	Parameters []string // those that are arrays, in their order, which are zeros
}

// Build builds a program at a path, in a folder that other files go to, too. The main of the file calls the function, unless the task
// gives values to the function's parameters or the file has none: then a main of ours calls it.
func (t Task) Build(ctx context.Context, path string) (Driver, error) {
	list, err := t.parameters(ctx)
	if err != nil {
		return Driver{}, err
	}
	if list.hasMain && len(t.Values)+len(t.Sizes) == 0 {
		if t.Passes > 1 {
			return Driver{}, fmt.Errorf("%d passes: %s has a main, which runs once and calls %s as it does",
				t.Passes, t.Path, t.Function)
		}
		return Driver{Main: true}, t.compile(ctx, t.Path, path)
	}
	w := driverWriter{task: t, values: maps.Clone(t.Values), sizes: maps.Clone(t.Sizes)}
	if err := w.write(list.all); err != nil {
		return Driver{}, err
	}
	source := path + filepath.Ext(t.Path)
	if err := os.WriteFile(source, w.text.Bytes(), 0o600); err != nil {
		return Driver{}, err
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
	for _, dir := range append(t.Folders, filepath.Dir(t.Path)) {
		all = append(all, "-I"+dir)
	}
	return all
}

// firstError is the first line in which a compiler says what is wrong.
func firstError(out []byte, err error) string {
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "error") || strings.Contains(line, "undefined reference") {
			return strings.TrimSpace(line)
		}
	}
	return strings.TrimSpace(string(out) + err.Error())
}

// A parameterList is the parameters of a function, as the preprocessor leaves them.
type parameterList struct {
	all     []string
	hasMain bool
}

var lastWord = regexp.MustCompile(`[A-Za-z_]\w*\s*$`)

// nameOf is where the name of a parameter is in its declaration: the last word before its
// extents, or that after the * in (*a)[n].
func nameOf(parameter string) (from, to int) {
	before := parameter
	if i := strings.IndexByte(before, '['); i >= 0 {
		before = before[:i]
	}
	before = strings.TrimRight(before, " \t\n)")
	at := lastWord.FindStringIndex(before)
	if at == nil {
		return 0, 0
	}
	return at[0], at[1]
}

var mainOf = regexp.MustCompile(`(?m)\bmain\s*\([^()]*\)\s*\{`)

// parameters finds the definition of the function in the text that the compiler sees.
func (t Task) parameters(ctx context.Context) (list parameterList, err error) {
	args := slices.Concat(t.Compiler[1:], t.options(), []string{"-E", "-P", "-w", t.Path})
	var failed bytes.Buffer
	cmd := compiler(ctx, t.Compiler[0], args...)
	cmd.Stderr = &failed
	text, err := cmd.Output()
	if err != nil {
		return list, fmt.Errorf("%s: %s", t.Compiler[0], firstError(failed.Bytes(), err))
	}
	list.hasMain = mainOf.Match(text)
	own := t.Function[strings.LastIndexByte(t.Function, ':')+1:]
	named := regexp.MustCompile(`\b` + regexp.QuoteMeta(own) + `\s*\(`)
	for _, at := range named.FindAllIndex(text, -1) {
		inside, after := bracketed(string(text[at[1]-1:]))
		if !strings.HasPrefix(strings.TrimLeft(after, " \t\n"), "{") {
			continue
		}
		for _, p := range splitOutside(inside, ',') {
			if p = strings.Join(strings.Fields(p), " "); p != "" && p != "void" {
				list.all = append(list.all, p)
			}
		}
		return list, nil
	}
	if list.hasMain { // as where a template or another language has it
		return list, nil
	}
	return list, fmt.Errorf("%s has no function %s", t.Path, t.Function)
}

// bracketed is the text within the bracket that a text begins with, and what follows it.
func bracketed(text string) (inside, after string) {
	depth := 0
	for i, c := range text {
		switch {
		case strings.ContainsRune("([{", c):
			depth++
		case strings.ContainsRune(")]}", c):
			if depth--; depth == 0 {
				return text[1:i], text[i+1:]
			}
		}
	}
	return "", ""
}

// splitOutside splits a text at a character outside of brackets.
func splitOutside(text string, at rune) (parts []string) {
	depth, from := 0, 0
	for i, c := range text {
		switch {
		case strings.ContainsRune("([{", c):
			depth++
		case strings.ContainsRune(")]}", c):
			depth--
		case c == at && depth == 0:
			parts, from = append(parts, text[from:i]), i+1
		}
	}
	return append(parts, text[from:])
}

// A driverWriter writes a main that allocates what a function's parameters point to, which is
// zeros, and calls the function.
type driverWriter struct {
	task          Task
	values, sizes map[string]string // those that are not used yet
	text          bytes.Buffer
	arrays        []string
}

// ParameterFile is the file in whose n-th line the n-th array of a driver is allocated.
const ParameterFile = "<parameters>"

func (w *driverWriter) write(parameters []string) error {
	path, err := filepath.Abs(w.task.Path)
	if err != nil {
		return err
	}
	fmt.Fprintf(&w.text, "#define main not_called\n#include %q\n#undef main\n", path)
	w.text.WriteString("int main(void) {\n")
	arguments := make([]string, len(parameters))
	for i, p := range parameters { // integers first: arrays have extents of them
		from, to := nameOf(p)
		name := strings.TrimSpace(p[from:to])
		switch {
		case name == "" || strings.HasSuffix(p, "..."):
			return fmt.Errorf("%s(%s): a parameter has no name", w.task.Function, strings.Join(parameters, ", "))
		case strings.ContainsAny(p, "*["):
		default:
			arguments[i] = name
			if err := w.scalar(p, name); err != nil {
				return err
			}
		}
	}
	for i, p := range parameters {
		if arguments[i] == "" {
			if arguments[i], err = w.array(p); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.values)) { // of fields, and of the file's variables
		fmt.Fprintf(&w.text, "%s = %s;\n", name, w.values[name])
	}
	for name, size := range w.sizes {
		return fmt.Errorf("-D '%s[%s]': %s is no pointer among the parameters of %s", name, size, name, w.task.Function)
	}
	fmt.Fprintf(&w.text, "for (int pass = 0; pass < %d; pass++) %s(%s);\nreturn 0; }\n",
		max(w.task.Passes, 1), w.task.Function, strings.Join(arguments, ", "))
	return nil
}

// hasField reports whether there is a value for a field of what a text begins.
func (w *driverWriter) hasField(begins string) bool {
	for key := range w.values {
		if strings.HasPrefix(key, begins) {
			return true
		}
	}
	return false
}

var realType = regexp.MustCompile(`\b(float|double|_Complex|complex)\b`)

// scalar declares a parameter that has a value.
func (w *driverWriter) scalar(p, name string) error {
	value, given := w.values[name]
	switch {
	case given:
	case realType.MatchString(p):
		value = "0"
	case w.hasField(name + "."):
		value = "{0}"
	default:
		return fmt.Errorf("the value of %s is not known: give it by -D %s=1000", name, name)
	}
	delete(w.values, name)
	fmt.Fprintf(&w.text, "%s = %s;\n", p, value)
	return nil
}

// firstExtent is that of an array, with words that say nothing of its size.
var firstExtent = regexp.MustCompile(`\[\s*(?:(?:restrict|__restrict|__restrict__|const|static|volatile)\b\s*)*`)

// array allocates what a parameter points to, an array of its extents or of the size given, and
// returns what the function is called with.
func (w *driverWriter) array(p string) (argument string, err error) {
	from, to := nameOf(p)
	name := p[from:to]
	size, sized := w.sizes[name]
	delete(w.sizes, name)
	w.arrays = append(w.arrays, name)
	rows, columns, isRows := strings.Cut(size, "][")
	if at := firstExtent.FindStringIndex(p[to:]); at != nil && !strings.Contains(p[:from], "*") {
		inside, rest := bracketed(p[to+at[0]:])
		inside = firstExtent.ReplaceAllString("["+inside, "")
		if sized {
			inside = size
		}
		if strings.TrimSpace(inside) == "" {
			return "", fmt.Errorf("how much %s points to is not known: give it by -D '%s[1000]'", name, name)
		}
		fmt.Fprintf(&w.text, "typedef %s the_%s[%s]%s;\n#line %d %q\n"+
			"the_%[2]s *%[2]s = (the_%[2]s *)__builtin_calloc(1, sizeof *%[2]s);\n",
			p[:from], name, inside, rest, len(w.arrays), ParameterFile)
		return "*" + name, nil
	}
	switch {
	case !sized && w.hasField(name+"->"):
		rows = "1"
	case !sized:
		return "", fmt.Errorf("how much %s points to is not known: give it by -D '%s[1000]'", name, name)
	}
	fmt.Fprintf(&w.text, "#line %d %q\n%s = (__typeof__(%s))__builtin_calloc(%s, sizeof *%[4]s);\n",
		len(w.arrays), ParameterFile, p, name, rows)
	if isRows {
		fmt.Fprintf(&w.text, "for (long row = 0; row < %s; row++)\n#line %d %q\n"+
			"%s[row] = (__typeof__(*%[4]s))__builtin_calloc(%s, sizeof **%[4]s);\n", rows, len(w.arrays), ParameterFile, name, columns)
	}
	return name, nil
}

var (
	regionBegins = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*pragma[ \t]+scop\b`)
	regionEnds   = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*pragma[ \t]+endscop\b`)
	definition   = regexp.MustCompile(`(?m)^\w[^;{}()#]*?(\w+)\s*\([^;{}]*\)\s*\{`)
)

// FindRegion finds the lines between #pragma scop and #pragma endscop in the text of a file, and
// the function that they are in, which begins a line. Without them the region has no lines.
func FindRegion(file string, text []byte) (function string, r Region) {
	begin, end := regionBegins.FindIndex(text), regionEnds.FindIndex(text)
	if begin == nil || end == nil || end[0] < begin[0] {
		return "", Region{}
	}
	heads := definition.FindAllSubmatch(text[:begin[0]], -1)
	if heads == nil {
		return "", Region{}
	}
	line := func(at int) int { return 1 + bytes.Count(text[:at], []byte("\n")) }
	return string(heads[len(heads)-1][1]), Region{filepath.Base(file), line(begin[0]), line(end[0])}
}
