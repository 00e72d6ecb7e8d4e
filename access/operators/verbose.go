package operators

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// verboseFields are those of a line of oneDNN's log where it has no template
// (dev_guide_verbose).
var verboseFields = []string{"operation", "engine", "primitive", "implementation", "prop_kind",
	"memory_descriptors", "attributes", "auxiliary", "problem_desc", "exec_time"}

// maxLine is the longest line of a log, in bytes.
const maxLine = 1 << 20

// zipped is how a zip begins, such as what torch.save writes.
const zipped = "PK\x03\x04"

// readVerbose reads a oneDNN log, which may be among what else a program
// printed.
func (t *trace) readVerbose(in *bufio.Reader, sigs *signatures) error {
	t.kind = verboseLog
	template := verboseFields
	begin, _ := in.Peek(len(zipped)) // an error is the scanner's, too
	head := string(begin)            // which reading on overwrites
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 1<<16), maxLine)
	any := false
	for lines.Scan() {
		fields, v1, ok := verboseLine(lines.Text())
		if !ok {
			continue
		}
		any = true
		if names, ok := templateOf(fields); ok {
			template = names
			continue
		}
		t.execution(fields, template, v1, sigs)
	}
	err := lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("a line of more than %d MiB", maxLine>>20)
	}
	switch {
	case !any && err != nil:
		return unreadable(err)
	case !any && head == zipped:
		return errors.New("it is a zip file, such as torch.save writes, and not a profile: record a step with torch.profiler or scripts/capture, and give the trace")
	case !any && (strings.HasPrefix(head, "\xFF\xFE") || strings.HasPrefix(head, "\xFE\xFF")):
		return errors.New("it is UTF-16, such as PowerShell's > writes: want UTF-8 (| Out-File -Encoding utf8)")
	case !any:
		return errors.New("it is not a profile: neither JSON (a Kineto or execution trace) nor lines of onednn_verbose (ONEDNN_VERBOSE=1)")
	case err != nil:
		t.warnings = append(t.warnings, fmt.Sprintf("%s: cut short or broken after %s (%s); the rest is unknown",
			t.name, inCalls(t.calls.Len()), plain(err)))
	}
	return nil
}

// verboseLine splits a line of oneDNN's into its fields from the operation on,
// and says whether it is of version 1: "onednn_verbose[,v1][,timestamp]
// [,primitive],exec,cpu,reorder,...".
func verboseLine(line string) (fields []string, v1, ok bool) {
	at := max(strings.Index(line, "onednn_verbose,"), strings.Index(line, "dnnl_verbose,"))
	if at < 0 {
		return nil, false, false
	}
	fields = strings.Split(strings.TrimSpace(line[at:]), ",")[1:]
	next := func(is func(string) bool) bool {
		if len(fields) == 0 || !is(fields[0]) {
			return false
		}
		fields = fields[1:]
		return true
	}
	next(func(s string) bool { return s == "v0" })
	v1 = next(func(s string) bool { return s == "v1" })
	next(func(s string) bool { _, err := strconv.ParseFloat(s, 64); return err == nil })
	next(func(s string) bool { return s == "primitive" })
	return fields, v1, true
}

// templateOf reads the line that names the fields of the others.
func templateOf(fields []string) ([]string, bool) {
	if len(fields) < 2 || fields[0] != "info" {
		return nil, false
	}
	first, ok := strings.CutPrefix(fields[1], "prim_template:")
	if !ok {
		first, ok = strings.CutPrefix(fields[1], "template:")
	}
	if !ok {
		return nil, false
	}
	names := append([]string{first}, fields[2:]...)
	if names[0] == "timestamp" {
		names = names[1:]
	}
	for _, needed := range []string{"operation", "primitive", "memory_descriptors", "problem_desc"} {
		if !slices.Contains(names, needed) {
			return nil, false // of graphs
		}
	}
	return names, true
}

// execution counts the execution that a line tells of: a reorder, or another
// primitive, which is skipped.
func (t *trace) execution(fields, template []string, v1 bool, sigs *signatures) {
	field := func(name string) string {
		if i := slices.Index(template, name); i >= 0 && i < len(fields) {
			return fields[i]
		}
		return ""
	}
	if field("operation") != "exec" {
		return // what was created, found in a cache, or said about this machine
	}
	op := field("primitive")
	if len(fields) < len(template) {
		t.skip(op, fmt.Sprintf("a line has %d fields, want %d", len(fields), len(template)))
		return
	}
	if op != "reorder" {
		t.skip(op, notReorder)
		return
	}
	if t.calls.Len() >= maxCalls {
		t.skip("(others)", fmt.Sprintf("more than %d calls", maxCalls))
		return
	}
	descriptors, shape := field("memory_descriptors"), field("problem_desc")
	c := call{link: -1}
	if ms, err := strconv.ParseFloat(field("exec_time"), 64); err == nil && ms >= 0 && ms < math.MaxInt64/2e6 {
		c.took = int64(ms * 1e6)
	}
	c.signature = sigs.of([]byte(fmt.Sprintf("onednn %t %s\x00%s", v1, descriptors, shape)), func() signature {
		sig := signature{op: op, Row: Row{Class: Copy}}
		err := sig.reorder(descriptors, shape, v1)
		if err != nil {
			sig.inputs, sig.outputs, sig.problem = nil, nil, err.Error()
		}
		return sig
	})
	t.calls.add(c)
}

// reorder reads what is copied into what: "src_f32::blocked:abcd::f0
// dst_f32:p:blocked:ABcd16b16a::f0" and "24x16x3x3".
func (s *signature) reorder(descriptors, dims string, v1 bool) error {
	shape, err := dimsOf(dims)
	if err != nil {
		return fmt.Errorf("its problem %w", err)
	}
	for _, text := range strings.Fields(descriptors) {
		argument, o, err := descriptor(text, shape, v1)
		if err != nil {
			return err
		}
		if argument == "dst" {
			o.Role = Output
			s.outputs = append(s.outputs, o)
		} else {
			s.inputs = append(s.inputs, o)
		}
	}
	if len(s.inputs) != 1 || len(s.outputs) != 1 {
		return fmt.Errorf("a reorder needs one src and one dst, not %q", descriptors)
	}
	return nil
}

// descriptor reads a memory descriptor: argument_dtype:flags:kind:tag:extra
// before oneDNN 3.0, from then on argument_dtype:flags:kind:tag:strides:extra,
// and argument:dtype:flags:... in version 1.
func descriptor(text string, shape []int, v1 bool) (argument string, o Tensor, err error) {
	parts := strings.Split(text, ":")
	if v1 {
		argument, parts = parts[0], parts[1:]
	} else {
		i := strings.IndexByte(parts[0], '_')
		if i < 0 {
			return "", o, fmt.Errorf("memory descriptor %q names no dtype", text)
		}
		argument, parts[0] = parts[0][:i], parts[0][i+1:]
	}
	if len(parts) < 4 {
		return "", o, fmt.Errorf("memory descriptor %q has %d parts after its name, want dtype:flags:kind:tag", text, len(parts))
	}
	dtype, kind, format := dtypeOf(parts[0]), parts[2], parts[3]
	if kind != "blocked" {
		format = strings.TrimSuffix(kind+":"+format, ":")
	}
	if format == "" {
		return "", o, fmt.Errorf("memory descriptor %q names no format", text)
	}
	if len(parts) > 4 && parts[4] != "" && parts[4][0] >= '0' && parts[4][0] <= '9' {
		strides, err := dimsOf(parts[4])
		if err != nil {
			return "", o, fmt.Errorf("the strides of memory descriptor %q: %w", text, err)
		}
		o, err = newOperand(slices.Clone(shape), strides, dtype)
		o.Format = format
		return argument, o, err
	}
	o, err = newOperand(slices.Clone(shape), Fresh(shape, dtype).Strides, dtype)
	o.Strides, o.Format = nil, format
	return argument, o, err
}

// dimsOf reads "24x16x3x3".
func dimsOf(text string) ([]int, error) {
	var dims []int
	for _, word := range strings.Split(text, "x") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%q is not a list of sizes such as 24x16x3x3", text)
		}
		dims = append(dims, n)
	}
	return dims, nil
}
