package operators

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// verboseFields are the fields of logs without a template (dev_guide_verbose).
var verboseFields = []string{"operation", "engine", "primitive", "implementation", "prop_kind",
	"memory_descriptors", "attributes", "auxiliary", "problem_desc", "exec_time"}

const maxLine = 1 << 20

func (t *trace) readVerbose(in *bufio.Reader, sigs *signatures) error {
	t.kind = verboseLog
	template := verboseFields
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
	case !any:
		return errors.New("it is not a profile: neither JSON (a Kineto or execution trace) nor " +
			"lines of onednn_verbose (ONEDNN_VERBOSE=1)")
	case err != nil:
		t.cut(err)
	}
	return nil
}

// verboseLine returns the fields of a line from the operation on: "onednn_verbose[,v1][,timestamp]
// [,primitive],exec,cpu,reorder,...". It reports whether the line is of version 1.
func verboseLine(line string) (fields []string, v1, ok bool) {
	at := max(strings.Index(line, "onednn_verbose,"), strings.Index(line, "dnnl_verbose,"))
	if at < 0 {
		return nil, false, false
	}
	fields = strings.Split(strings.TrimSpace(line[at:]), ",")[1:]
	for len(fields) > 0 {
		_, err := strconv.ParseFloat(fields[0], 64) // a timestamp
		if err != nil && !slices.Contains([]string{"v0", "v1", "primitive"}, fields[0]) {
			break
		}
		v1 = v1 || fields[0] == "v1"
		fields = fields[1:]
	}
	return fields, v1, true
}

func templateOf(fields []string) ([]string, bool) {
	if len(fields) < 2 || fields[0] != "info" {
		return nil, false
	}
	_, first, ok := strings.Cut(fields[1], "template:") // or prim_template:
	if !ok {
		return nil, false
	}
	names := append([]string{first}, fields[2:]...)
	if names[0] == "timestamp" {
		names = names[1:]
	}
	for _, needed := range []string{"operation", "primitive", "memory_descriptors",
		"problem_desc"} {
		if !slices.Contains(names, needed) {
			return nil, false // a graph's template
		}
	}
	return names, true
}

func (t *trace) execution(fields, template []string, v1 bool, sigs *signatures) {
	field := func(name string) string {
		if i := slices.Index(template, name); i >= 0 && i < len(fields) {
			return fields[i]
		}
		return ""
	}
	if field("operation") != "exec" {
		return // such as create, or info about this machine
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
	signature := sigs.of([]byte(fmt.Sprintf("onednn %t %s\x00%s", v1, descriptors, shape)),
		func() signature {
			sig := signature{op: op, Row: Row{Class: Copy}}
			err := sig.reorder(descriptors, shape, v1)
			if err != nil {
				sig.inputs, sig.outputs, sig.problem = nil, nil, err.Error()
			}
			return sig
		})
	t.calls.add(call{signature: signature, link: -1})
}

// reorder reads source and destination: "src_f32::blocked:abcd::f0
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

// descriptor reads a memory descriptor: argument_dtype:flags:kind:tag:extra before oneDNN 3.0, then
// argument_dtype:flags:kind:tag:strides:extra, and argument:dtype:flags:... in version 1. The tag
// decides; strides are ignored.
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
		return "", o, fmt.Errorf("memory descriptor %q has %d parts after its name, want "+
			"dtype:flags:kind:tag", text, len(parts))
	}
	dtype, kind, format := dtypeOf(parts[0]), parts[2], parts[3]
	if kind != "blocked" {
		format = strings.TrimSuffix(kind+":"+format, ":")
	}
	if format == "" {
		return "", o, fmt.Errorf("memory descriptor %q names no format", text)
	}
	o, err = newOperand(slices.Clone(shape), Fresh(shape, dtype).Strides, dtype)
	o.Strides, o.Format = nil, format
	return argument, o, err
}

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
