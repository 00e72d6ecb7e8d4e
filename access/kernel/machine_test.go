package kernel

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

// A state is what a machine has that runs the addresses of assembly, on any CPU: what goes on in
// vectors is left out, what these read and write is written down.
type state struct {
	registers map[string]int
	frame     map[string]int // arguments by name
	result    int            // which conditional jumps of amd64 go by
	touched   []touched
}

// touched is one access by machine code or plan.
type touched struct {
	write     bool
	at, width int
}

// value is that of a constant, an argument or a register.
func (s *state) value(operand string) (int, error) {
	if v, ok := strings.CutPrefix(operand, "$"); ok {
		n, err := strconv.ParseInt(v, 0, 64)
		return int(n), err
	}
	if name, _, ok := strings.Cut(operand, "+"); ok && strings.HasSuffix(operand, "(FP)") {
		v, ok := s.frame[name]
		if !ok {
			return 0, fmt.Errorf("no argument %s", name)
		}
		return v, nil
	}
	if v, ok := s.registers[operand]; ok {
		return v, nil
	}
	return 0, fmt.Errorf("%s has no value", operand)
}

func (s *state) touch(write bool, at, width int) {
	s.touched = append(s.touched, touched{write, at, width})
}

// An instruction is one line of assembly, of a label with its colon as the name.
type instruction struct {
	name     string
	operands []string
}

var listOrWord = regexp.MustCompile(`\[[^\]]*\]|[^,\s]+`)

// assembly is the checked-in code of each function.
func assembly(t *testing.T, file string) map[string][]instruction {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string][]instruction{}
	function := ""
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimSpace(line)
		if f, ok := strings.CutPrefix(line, "TEXT ·"); ok {
			function, _, _ = strings.Cut(f, "(SB)")
		} else if line != "" && function != "" {
			name, rest, _ := strings.Cut(line, " ")
			of := instruction{name, listOrWord.FindAllString(rest, -1)}
			functions[function] = append(functions[function], of)
		}
	}
	return functions
}

// code runs functions of a file.
type code struct {
	functions map[string][]instruction
	// step executes one instruction, and returns the label to which it jumps, "" of none.
	step func(s *state, lists map[int]int, name string, operands []string) (label string, err error)
}

// run executes a function with these arguments and numbers in memory, and returns what it touched
// but for what lies on the stack or elsewhere.
func (c code) run(
	t *testing.T, name string, arguments map[string]int, lists map[int]int,
) []touched {
	t.Helper()
	m := &state{registers: map[string]int{}, frame: arguments}
	code := c.functions[name]
	for at := 0; at < len(code); at++ {
		of := code[at]
		if of.name == "RET" {
			apart := func(a touched) bool { return a.at < 1<<32 || a.at >= elsewhere }
			return slices.DeleteFunc(m.touched, apart)
		}
		if strings.HasSuffix(of.name, ":") {
			continue
		}
		label, err := c.step(m, lists, of.name, of.operands)
		if err != nil {
			t.Fatalf("%s: %s %v: %v", name, of.name, of.operands, err)
		}
		if label != "" {
			at = slices.IndexFunc(code, func(i instruction) bool { return i.name == label+":" })
		}
	}
	t.Fatalf("%s has no end", name)
	return nil
}

// Where the test has the memory: what is read, written, and neither. The stack is near 0.
const (
	readAt, writtenAt, elsewhere = 1 << 40, 2 << 40, 1 << 62
)

// narrow is how many bytes an instruction touches that has no vectors.
var narrow = map[string]int{"MOVWQZX": 2, "MOVW": 2, "MOVBQZX": 1, "MOVB": 1}

// address are the parts of the address of what lies in memory, none of anything else.
func address(operand string) []string {
	if parts, known := addresses[operand]; known {
		return parts
	}
	addresses[operand] = memory.FindStringSubmatch(operand)
	return addresses[operand]
}

var (
	memory    = regexp.MustCompile(`^(-?\d*)\((\w+)\)(?:\((\w+)\*(\d)\))?$`)
	addresses = map[string][]string{}
)

// valueOrAddress is the value of [state], or the address of what lies in memory.
func (s *state) valueOrAddress(operand string) (int, error) {
	if parts := address(operand); parts != nil {
		offset, _ := strconv.Atoi(parts[1])
		scale, _ := strconv.Atoi(parts[4])
		return offset + s.registers[parts[2]] + s.registers[parts[3]]*scale, nil
	}
	return s.value(operand)
}

// stepAMD64 executes one instruction. Lists are what lies in memory of the lists that functions
// go by.
func stepAMD64(
	m *state, lists map[int]int, name string, operands []string,
) (label string, err error) {
	jumps, is := map[string]bool{
		"JMP": true, "JZ": m.result == 0, "JNZ": m.result != 0, "JL": m.result < 0,
		"JGE": m.result >= 0,
	}[name]
	switch {
	case is && jumps:
		return operands[0], nil
	case is || name == "SFENCE" || strings.HasPrefix(name, "PREFETCH"): // accesses of no nest
		return "", nil
	case name[0] == 'V':
		return "", m.vector(name, operands)
	}
	last := operands[len(operands)-1]
	source, err1 := m.valueOrAddress(operands[0])
	target, err2 := m.valueOrAddress(last)
	set := func(v int) { m.registers[last], m.result = v, v }
	fromMemory, toMemory := address(operands[0]) != nil, address(last) != nil
	switch width := narrow[name]; {
	case err1 != nil:
		return "", err1
	case width > 0 && fromMemory: // what lies there counts nowhere
		m.touch(false, source, width)
		m.registers[last] = 0
		return "", nil
	case width > 0 && toMemory:
		m.touch(true, target, width)
		return "", err2
	case name == "MOVQ" && fromMemory:
		m.registers[last] = lists[source]
		return "", nil
	case name == "MOVQ" || name == "LEAQ":
		m.registers[last] = source
		return "", nil
	case err2 != nil:
		return "", err2
	}
	switch name {
	case "ADDQ":
		set(target + source)
	case "SUBQ":
		set(target - source)
	case "IMULQ":
		set(target * source)
	case "SHLQ":
		set(target << source)
	case "SHRQ":
		set(target >> source)
	case "ANDQ":
		set(target & source)
	case "ORQ":
		set(target | source)
	case "DECQ":
		set(target - 1)
	case "CMPQ":
		m.result = source - target
	case "TESTQ":
		m.result = source & target
	case "CMOVQEQ":
		if m.result == 0 {
			m.registers[last] = source
		}
	default:
		return "", fmt.Errorf("an instruction that the test does not know")
	}
	return "", nil
}

// vector writes down what an instruction of vectors touches. It is as wide as
// its registers unless its name says otherwise.
func (s *state) vector(name string, operands []string) error {
	for i, operand := range operands {
		if !strings.HasSuffix(operand, ")") || strings.HasSuffix(operand, "(FP)") {
			continue
		}
		at, err := s.valueOrAddress(operand)
		if err != nil {
			return err
		}
		width := map[byte]int{'X': 16, 'Y': 32, 'Z': 64}[operands[(i+1)%len(operands)][0]]
		switch name {
		case "VMOVQ", "VMOVHPS", "VPBROADCASTQ":
			width = 8
		case "VMOVD":
			width = 4
		case "VINSERTF128", "VINSERTI128", "VINSERTI32X4":
			width = 16
		}
		s.touch(i == len(operands)-1, at, width)
	}
	return nil
}

// said is what steps say is touched, with memory where these are.
func said(read, written, buffers int, steps ...Step) (all []touched) {
	for _, s := range steps {
		eachTrip(s, read, written, buffers, func(_ int, at []int) {
			for i, a := range s.Body {
				all = append(all, touched{a.Write, at[i], a.Width})
			}
		})
	}
	return all
}

// sameTouched compares what code touches with what a plan says.
func sameTouched(t *testing.T, what string, got, want []touched) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s: access %d of %d is %+v, the plan says %+v", what, i, len(want),
				got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: the code makes %d accesses, the plan says %d", what, len(got), len(want))
	}
}

// TestMachineCode: the assembly touches what plans say, byte for byte and in
// that order, whatever the CPU.
func TestMachineCode(t *testing.T) {
	amd64 := code{assembly(t, "kernels_amd64.s"), stepAMD64}
	arm64 := code{assembly(t, "kernels_arm64.s"), stepARM64}
	for _, s := range All()[1:] {
		c := codeOf{amd64, s, strings.ToUpper(s.Like().name), []int{0, 1}}
		if s == neon {
			c.code, c.past = arm64, c.past[:1] // it has no other stores
		}
		c.tiles(t)
		for _, rows := range rowCases() {
			c.rows(t, rows)
		}
		if s.amd64 {
			c.panels(t)
		}
		for _, size := range s.blocks {
			for _, past := range c.past {
				for blocks := 1; blocks <= 4; blocks++ {
					c.blocks(t, size, blocks, past)
				}
			}
		}
	}
	codeOf{amd64, avx2, "AVX2", []int{0, 1}}.zipped(t)
}

// codeOf is the code of a set.
type codeOf struct {
	code
	set   *Set
	level string // as it stands in names of functions
	past  []int  // the stores that it has, as functions take them
}

// check compares a function with what a step says.
func (c codeOf) check(
	t *testing.T, name string, arguments map[string]int, lists map[int]int, s Step,
) {
	t.Helper()
	name += c.level
	what := fmt.Sprintf("%s: %v", name, arguments)
	sameTouched(t, what, c.run(t, name, arguments, lists), said(readAt, writtenAt, writtenAt, s))
}

// tiles checks the code of tiles, and of pairs of them.
func (c codeOf) tiles(t *testing.T) {
	const from, to = -776, 1000
	for size, read := range c.set.tiles {
		p := &Plan{set: c.set, size: size}
		arguments := map[string]int{
			"dst": writtenAt, "src": readAt, "n": 3, "dstPitch": to, "srcPitch": from,
			"srcStep": 72,
			"ahead":   2,
		}
		body := p.tileBody(nil, read, 0, from, to)
		for _, past := range c.past {
			arguments["dstStep"], arguments["size"], arguments["past"] = line, size, past
			one := Step{Loops: []Loop{{3, line, 72}}, Body: body}
			name := "transpose"
			if c.set == neon { // a function for each size
				name += fmt.Sprint(size)
			}
			c.check(t, name, arguments, nil, one)
			if c.set.amd64 && size >= 8 {
				arguments["dstStep"] = 2 * line
				both := p.tileBody(slices.Clone(body), read, line/size, from, to)
				pair := Step{Loops: []Loop{{3, 2 * line, 72}}, Body: both}
				c.check(t, "transposePairs", arguments, nil, pair)
			}
		}
	}
}

// A rowCase is three rows of so many groups, which lie so far apart.
type rowCase struct{ groups, pitch, other int }

// rowCases have rows that lie on each other, in one operand or in both.
func rowCases() (all []rowCase) {
	for groups := range 20 {
		all = append(all, rowCase{groups, 4000, -4008})
	}
	for _, groups := range []int{0, 1, 7, 8, 9, 16, 24} {
		all = append(all, rowCase{groups, 0, 0}, rowCase{groups, 0, 512}, rowCase{groups, 512, 0})
	}
	return all
}

// rows checks the code of copies, fills and sums.
func (c codeOf) rows(t *testing.T, of rowCase) {
	arguments := map[string]int{
		"lanes": elsewhere, "x": readAt, "dst": writtenAt, "src": readAt, "value": 0,
		"groups": of.groups, "rows": 3, "pitch": of.pitch, "dstPitch": of.pitch,
		"srcPitch": of.other,
	}
	width := c.set.width
	check := func(name string, ops []Access, other int) {
		t.Helper()
		loops := []Loop{{3, of.pitch, other}, {of.groups * line / width, width, width}}
		c.check(t, name, arguments, nil, Step{Loops: loops, Body: ops})
	}
	for _, past := range c.past {
		arguments["past"], arguments["ahead"] = past, past*4096
		check("copy", element(width), of.other)
		for _, dtype := range []string{"Int32", "Float32", "Float64", "Float16", "BFloat16"} {
			if c.set.halves || !strings.HasSuffix(dtype, "Float16") {
				check("add"+dtype, element(width)[:1], of.pitch)
			}
		}
	}
	check("fill", element(width)[1:], of.pitch)
}

// zipped checks the code of rows in registers.
func (c codeOf) zipped(t *testing.T) {
	arguments := map[string]int{
		"dst": writtenAt, "src": readAt, "masks": elsewhere, "groups": 5, "pitch": -1000,
	}
	for n := 2; n <= mostZipped; n++ {
		for _, past := range c.past {
			arguments["n"], arguments["past"] = n, past
			apart := []Loop{{5, line, n * line}}
			c.check(t, "zip", arguments, nil,
				Step{Loops: []Loop{{5, n * line, line}}, Body: zipBody(n, -1000)})
			c.check(t, "unzip", arguments, nil, Step{Loops: apart, Body: unzipBody(n, -1000)})
		}
	}
}

// panels checks the code of panels, which is that of AVX2 in all sets that have any, and whose
// rows lie where lists say.
func (c codeOf) panels(t *testing.T) {
	c.level = "AVX2"
	lists := map[int]int{}
	list := func(at int, values ...int) int {
		for i, v := range values {
			lists[at+8*i] = v
		}
		return at
	}
	for size, tile := range smallTiles {
		rows := make([]int, 2*tile.rows)
		for i := range rows {
			rows[i] = i * i % 97 * -776
		}
		arguments := map[string]int{
			"dst": writtenAt, "src": readAt, "rows": list(elsewhere, rows...),
			"strips": 2, "tiles": 3,
			"dstPitch": 1000, "asked": readAt, "asks": elsewhere + 4096, "size": size,
		}
		var want []Access
		for i := range 6 {
			strip, tiles := i/3*tile.rows, i%3*tile.bytes
			to := tiles/size*1000 + strip*size
			want = append(want, tile.body(size, rows[strip:], tiles, nil, to, 1000, nil)...)
		}
		c.check(t, "gather", arguments, lists, Step{Body: want})
		asks, inside := 0, false // which no loop of a tile repeats
		for _, of := range c.functions["gather"+c.level] {
			if name, is := strings.CutSuffix(of.name, ":"); is && strings.HasPrefix(name, "size") {
				inside = name == fmt.Sprint("size", size)
			} else if is && strings.HasPrefix(name, "stripsize") {
				inside = name == fmt.Sprint("stripsize", size)
			}
			if inside && strings.HasPrefix(of.name, "PREFETCH") {
				asks++
			}
		}
		if asks != tile.asks() {
			t.Errorf("gather %d: the code asks for %d lines a tile, and is given %d", size, asks,
				tile.asks())
		}
	}
	from, to := []int{500, -64, 8000}, []int{0, 3000, -999}
	arguments := map[string]int{
		"dst": writtenAt, "to": list(elsewhere, to...), "src": readAt,
		"from": list(elsewhere+800, from...),
		"rows": 3, "asked": readAt, "asks": elsewhere + 4096,
	}
	moves := func(bytes, vector int) Step {
		var s Step
		for i := range to {
			for _, u := range units(bytes, vector) {
				s.Body = append(s.Body, Access{Offset: from[i] + u[0], Width: u[1]},
					Access{Write: true, Offset: to[i] + u[0], Width: u[1]})
			}
		}
		return s
	}
	for bytes := 1; bytes < 200; bytes++ {
		arguments["bytes"], arguments["groups"] = bytes, bytes/line
		c.check(t, "move", arguments, lists, moves(bytes, 32))
		for _, past := range c.past {
			for _, vector := range []int{16, 32} {
				if arguments["past"], arguments["vector"] = past, vector; bytes%line == 0 {
					c.check(t, "drain", arguments, lists, moves(bytes, vector))
				}
			}
		}
	}
}

// blocks checks the code of a run of that many blocks.
func (c codeOf) blocks(t *testing.T, size, blocks, past int) {
	t.Helper()
	to, from := Loop{0, size, 8192}, Loop{0, 4096, size}
	along := Loop{blocks, 256, 320}
	p := &Plan{set: c.set, size: size}
	p.blockRun(along, 3, to, from, 0, 0)
	memory := make([]byte, 1<<20)
	dst, src, buffers := memory, memory[1<<18:], memory[1<<19:]
	var got []touched
	move := func(dst, drain, src, fill *byte, lines, dstPitch, srcPitch, bufferPitch,
		size, past int) {
		got = append(got, c.run(t, "transposeBlock"+c.level, map[string]int{
			"dst": at(dst), "drain": at(drain), "src": at(src), "fill": at(fill), "lines": lines,
			"dstPitch": dstPitch, "srcPitch": srcPitch, "bufferPitch": bufferPitch, "size": size,
			"past": past,
		}, nil)...)
	}
	p.block(3, to, from).move(move, dst, src, buffers, along, 0, 0, past)
	sameTouched(t, fmt.Sprint("blocks of ", size, " B"), got,
		said(at(&src[0]), at(&dst[0]), at(&buffers[0]), p.Steps...))
}

// at is the address of a byte.
func at(b *byte) int { return int(uintptr(unsafe.Pointer(b))) }
