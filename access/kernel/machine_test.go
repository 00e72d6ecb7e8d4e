package kernel

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/stridebench/stridebench/layouts/nest"
)

// A machine runs the addresses of the assembly, on any CPU: what goes on in
// vectors is left out, what these read and write is written down.
type machine struct {
	state
	lists  map[int]int // what lies in memory of the lists that functions go by
	result int         // which conditional jumps go by
}

// A state is what any machine has.
type state struct {
	registers map[string]int
	frame     map[string]int // arguments by name
	touched   []touched
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

// touched is one access by machine code or plan.
type touched struct {
	write     bool
	at, width int
}

// assembly is the checked-in code, line by line of each function.
func assembly(t *testing.T, file string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string][]string{}
	name := ""
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimSpace(line)
		if f, ok := strings.CutPrefix(line, "TEXT ·"); ok {
			name, _, _ = strings.Cut(f, "(SB)")
		} else if line != "" && name != "" {
			functions[name] = append(functions[name], line)
		}
	}
	return functions
}

// run executes a function with these arguments, and returns what it touched of
// what lies at from <= address < to.
func run(t *testing.T, code []string, arguments map[string]int, from, to int) []touched {
	t.Helper()
	return runWith(t, code, arguments, nil, from, to)
}

// runWith does so where lists are in memory, by the address of each number of theirs.
func runWith(t *testing.T, code []string, arguments map[string]int, lists map[int]int, from, to int) []touched {
	t.Helper()
	m := machine{state: state{registers: map[string]int{}, frame: arguments}, lists: lists}
	for at := 0; ; at++ {
		name, rest, _ := strings.Cut(code[at], " ")
		if strings.HasSuffix(name, ":") {
			continue
		}
		operands := strings.Split(strings.ReplaceAll(rest, " ", ""), ",")
		if name == "RET" {
			return slices.DeleteFunc(m.touched, func(a touched) bool { return a.at < from || a.at >= to })
		}
		if name == "JMP" {
			at = slices.Index(code, operands[0]+":")
		} else if jumps, ok := map[string]bool{"JZ": m.result == 0, "JNZ": m.result != 0, "JL": m.result < 0, "JGE": m.result >= 0}[name]; ok {
			if jumps {
				at = slices.Index(code, operands[0]+":")
			}
		} else if err := m.step(name, operands); err != nil {
			t.Fatalf("%s: %v", code[at], err)
		}
	}
}

// step executes one instruction.
func (m *machine) step(name string, operands []string) error {
	last := operands[len(operands)-1]
	value := 0
	if name[0] != 'V' && name != "SFENCE" && !strings.HasPrefix(name, "PREFETCH") {
		var err error
		if value, err = m.value(operands[0]); err != nil {
			return err
		}
	}
	set := func(v int) { m.registers[last], m.result = v, v }
	source, dest := memory.MatchString(operands[0]), memory.MatchString(last)
	switch {
	case name == "MOVQ" && source:
		m.registers[last] = m.lists[value]
	case name == "MOVWQZX" && source || name == "MOVBQZX" && source: // what lies there counts nowhere
		m.touched = append(m.touched, touched{false, value, narrow[name]})
		m.registers[last] = 0
	case name == "MOVW" && dest || name == "MOVB" && dest:
		at, err := m.value(last)
		m.touched = append(m.touched, touched{true, at, narrow[name]})
		return err
	case name == "MOVQ" || name == "LEAQ":
		m.registers[last] = value
	case name == "ADDQ":
		set(m.registers[last] + value)
	case name == "SUBQ":
		set(m.registers[last] - value)
	case name == "IMULQ":
		set(m.registers[last] * value)
	case name == "SHLQ":
		set(m.registers[last] << value)
	case name == "SHRQ":
		set(m.registers[last] >> value)
	case name == "ANDQ":
		set(m.registers[last] & value)
	case name == "ORQ":
		set(m.registers[last] | value)
	case name == "CMPQ":
		other, err := m.value(last)
		m.result = value - other
		return err
	case name == "CMOVQEQ":
		if m.result == 0 {
			m.registers[last] = value
		}
	case name == "DECQ":
		set(value - 1)
	case name == "TESTQ":
		other, err := m.value(last)
		m.result = value & other
		return err
	case name == "SFENCE" || strings.HasPrefix(name, "PREFETCH"): // accesses of no nest
	case name[0] == 'V':
		return m.vector(name, operands)
	default:
		return fmt.Errorf("an instruction that the test does not know")
	}
	return nil
}

// vector writes down what an instruction of vectors touches. It is as wide as
// its registers unless its name says otherwise.
func (m *machine) vector(name string, operands []string) error {
	for i, operand := range operands {
		if !strings.HasSuffix(operand, ")") || strings.HasSuffix(operand, "(FP)") {
			continue
		}
		at, err := m.value(operand)
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
		m.touched = append(m.touched, touched{i == len(operands)-1, at, width})
	}
	return nil
}

// narrow is how many bytes an instruction touches that has no vectors.
var narrow = map[string]int{"MOVWQZX": 2, "MOVW": 2, "MOVBQZX": 1, "MOVB": 1}

var memory = regexp.MustCompile(`^(-?\d*)\((\w+)\)(?:\((\w+)\*(\d)\))?$`)

// value is that of [state], or the address of what lies in memory.
func (m *machine) value(operand string) (int, error) {
	if parts := memory.FindStringSubmatch(operand); parts != nil {
		offset, _ := strconv.Atoi(parts[1])
		scale, _ := strconv.Atoi(parts[4])
		return offset + m.registers[parts[2]] + m.registers[parts[3]]*scale, nil
	}
	return m.state.value(operand)
}

// Where the test has the memory: what is read, written, and neither.
const (
	readAt, writtenAt, elsewhere = 1 << 40, 2 << 40, 3 << 40
)

// said is what a step says is touched, with memory where these are.
func said(s Step, read, written, buffers int) []touched {
	var all []touched
	at, steps := make([]int, len(s.Body)), make([][]int, len(s.Body))
	for i, a := range s.Body {
		steps[i] = nest.Steps(counts(s.Loops), stridesOf(s, a))
		switch {
		case a.Buffered():
			at[i] = buffers + a.Offset
		case a.Write:
			at[i] = written + s.To + a.Offset
		default:
			at[i] = read + s.From + a.Offset
		}
	}
	for l := range nest.Walk(counts(s.Loops)) {
		for i, a := range s.Body {
			if l >= 0 {
				at[i] += steps[i][l]
			}
			all = append(all, touched{a.Write, at[i], a.Width})
		}
	}
	return all
}

// same compares what code touches with what a plan says.
func same(t *testing.T, what string, got, want []touched) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: the code makes %d accesses, the plan says %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s: access %d of %d is %+v, the plan says %+v", what, i, len(want), got[i], want[i])
			return
		}
	}
}

// TestMachineCode: the assembly touches what plans say, byte for byte and in
// that order, whatever the CPU.
func TestMachineCode(t *testing.T) {
	amd64, arm64 := assembly(t, "kernels_amd64.s"), assembly(t, "kernels_arm64.s")
	for _, s := range All()[1:] {
		functions, run, streams := amd64, run, []string{"Stream"}
		if s == neon {
			functions, run, streams = arm64, runARM, nil // it has no other stores
		}
		level, _, _ := strings.Cut(strings.ToUpper(s.name), "-")
		for size, read := range s.tiles {
			p := &Plan{set: s, size: size}
			for _, stream := range append(streams, "") {
				name := "transpose" + stream
				arguments := map[string]int{"dst": writtenAt, "src": readAt, "n": 3, "dstPitch": 1000, "srcPitch": -776, "dstStep": 64, "srcStep": 72, "ahead": 2}
				want := said(Step{Loops: []Loop{{3, 64, 72}}, Body: p.tileBody(nil, read, 0, -776, 1000)}, readAt, writtenAt, 0)
				name = fmt.Sprint(name, size, level)
				same(t, name, run(t, functions[name], arguments, readAt-1<<30, elsewhere), want)
			}
			for _, stream := range append(streams, "") {
				if !slices.Contains(s.pairs, size) {
					continue
				}
				arguments := map[string]int{"dst": writtenAt, "src": readAt, "n": 3, "dstPitch": 1000, "srcPitch": -776, "dstStep": 128, "srcStep": 72, "ahead": 2}
				both := p.tileBody(p.tileBody(nil, read, 0, -776, 1000), read, line/size, -776, 1000)
				want := said(Step{Loops: []Loop{{3, 128, 72}}, Body: both}, readAt, writtenAt, 0)
				name := fmt.Sprint("transposePairs", stream, size, level)
				same(t, name, run(t, functions[name], arguments, readAt-1<<30, elsewhere), want)
			}
		}
		for _, c := range rowCases() {
			groups := c.groups
			arguments := map[string]int{"lanes": elsewhere, "x": readAt, "dst": writtenAt, "src": readAt, "value": 0, "groups": groups, "rows": 3, "pitch": c.pitch, "ahead": 4096, "dstPitch": c.pitch, "srcPitch": c.other}
			for name, ops := range map[string][]Access{"copy": element(s.width), "stream": element(s.width), "fill": element(s.width)[1:],
				"addInt32": element(s.width)[:1], "addFloat32": element(s.width)[:1], "addFloat64": element(s.width)[:1],
				"addFloat16": element(s.width)[:1], "addBFloat16": element(s.width)[:1],
				"addAskInt32": element(s.width)[:1], "addAskFloat32": element(s.width)[:1], "addAskFloat64": element(s.width)[:1],
				"addAskFloat16": element(s.width)[:1], "addAskBFloat16": element(s.width)[:1]} {
				if (name == "stream" || strings.HasPrefix(name, "addAsk")) && streams == nil || strings.HasSuffix(name, "Float16") && !s.halves {
					continue
				}
				pitch := map[bool]int{false: c.pitch, true: c.other}[len(ops) == 2]
				want := said(Step{Loops: []Loop{{3, c.pitch, pitch}, {groups * line / s.width, s.width, s.width}}, Body: ops}, readAt, writtenAt, 0)
				same(t, fmt.Sprintf("%s%s of %d groups, %d and %d apart", name, level, groups, c.pitch, c.other), run(t, functions[name+level], arguments, readAt-1<<30, elsewhere), want)
			}
		}
		if s.panels != nil {
			samePanels(t, functions, s)
		}
		for _, size := range s.blocks {
			for _, name := range []string{"transposeBlock", "transposeStreamBlock"} {
				for blocks := 1; blocks <= 6; blocks++ {
					sameBlocks(t, functions[fmt.Sprint(name, size, level)], &Plan{set: s, size: size}, blocks)
				}
			}
		}
	}
}

// samePanels runs the code of panels, which is that of AVX2 in all sets that have any and
// whose rows lie where lists say.
func samePanels(t *testing.T, functions map[string][]string, s *Set) {
	const level = "AVX2"
	lists := map[int]int{}
	list := func(at int, values ...int) int {
		for i, v := range values {
			lists[at+8*i] = v
		}
		return at
	}
	runs := func(name string, arguments map[string]int, want []Access) {
		t.Helper()
		said := said(Step{Body: want}, readAt, writtenAt, writtenAt)
		same(t, name, runWith(t, functions[name], arguments, lists, readAt-1<<30, elsewhere), said)
	}
	for size, tile := range s.panels {
		rows := make([]int, 2*tile.rows)
		for i := range rows {
			rows[i] = i * i % 97 * -776
		}
		arguments := map[string]int{"dst": writtenAt, "src": readAt, "rows": list(elsewhere, rows...), "strips": 2, "tiles": 3, "dstPitch": 1000, "asked": readAt, "asks": elsewhere + 4096}
		var want []Access
		for i := range 6 {
			strip, tiles := i/3*tile.rows, i%3*tile.bytes
			want = append(want, tile.body(size, rows[strip:], tiles, nil, tiles/size*1000+strip*size, 1000, nil)...)
		}
		name := fmt.Sprint("gather", size, level)
		runs(name, arguments, want)
		asks := 0 // which no loop of a tile repeats
		for _, code := range functions[name] {
			if strings.HasPrefix(code, "PREFETCH") {
				asks++
			}
		}
		if asks != asksOfTile(size) {
			t.Errorf("%s: the code asks for %d lines a tile, and is given %d", name, asks, asksOfTile(size))
		}
	}
	from, to := []int{500, -64, 8000}, []int{0, 3000, -999}
	arguments := map[string]int{"dst": writtenAt, "to": list(elsewhere, to...), "src": readAt, "from": list(elsewhere+800, from...), "rows": 3, "asked": readAt, "asks": elsewhere + 4096}
	for bytes := 1; bytes < 200; bytes++ {
		var want []Access
		for i := range to {
			for _, u := range units(bytes, 32) {
				want = append(want, Access{Offset: from[i] + u[0], Width: u[1]}, Access{Write: true, Offset: to[i] + u[0], Width: u[1]})
			}
		}
		arguments["bytes"], arguments["groups"] = bytes, bytes/line
		runs("move"+level, arguments, want)
		if bytes%line == 0 {
			runs("drain"+level, arguments, want)
			runs("drainStream"+level, arguments, want)
			var halves []Access
			for i := 0; i < len(want); i += 2 {
				for _, half := range []int{0, 16} {
					for _, a := range want[i : i+2] {
						halves = append(halves, Access{Write: a.Write, Offset: a.Offset + half, Width: 16})
					}
				}
			}
			runs("drain16"+level, arguments, halves)
			runs("drainStream16"+level, arguments, halves)
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

// sameBlocks runs the code of a run of so many blocks.
func sameBlocks(t *testing.T, code []string, p *Plan, blocks int) {
	t.Helper()
	to, from := Loop{0, p.size, 8192}, Loop{0, 4096, p.size}
	along := Loop{blocks, 256, 320}
	p.blockRun(along, 3, to, from, 0, 0)
	memory := make([]byte, 1<<20)
	dst, src, buffers := memory, memory[1<<18:], memory[1<<19:]
	at := func(p *byte) int { return int(uintptr(unsafe.Pointer(p))) }
	var got, want []touched
	for _, s := range p.Steps {
		want = append(want, said(s, at(&src[0]), at(&dst[0]), at(&buffers[0]))...)
	}
	move := func(dst, drain, src, fill *byte, lines, dstPitch, srcPitch, bufferPitch int) {
		got = append(got, run(t, code, map[string]int{"dst": at(dst), "drain": at(drain), "src": at(src), "fill": at(fill),
			"lines": lines, "dstPitch": dstPitch, "srcPitch": srcPitch, "bufferPitch": bufferPitch}, 0, math.MaxInt)...)
	}
	p.block(3, to, from).move(dst, src, buffers, along, 0, 0, move, move)
	same(t, fmt.Sprintf("%d blocks of %d B", blocks, p.size), got, want)
}
