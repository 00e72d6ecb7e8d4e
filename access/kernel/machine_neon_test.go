package kernel

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// An armMachine runs the addresses of arm64 assembly, on any CPU.
type armMachine struct{ state }

// runARM executes a function with these arguments, and returns what it touched of
// what lies at from <= address < to.
func runARM(t *testing.T, code []string, arguments map[string]int, from, to int) []touched {
	t.Helper()
	m := armMachine{state{registers: map[string]int{}, frame: arguments}}
	for at := 0; at < len(code); at++ {
		name, rest, _ := strings.Cut(code[at], " ")
		switch operands := fields(rest); {
		case strings.HasSuffix(name, ":"):
		case name == "RET":
			return slices.DeleteFunc(m.touched, func(a touched) bool { return a.at < from || a.at >= to })
		case name == "CBZ" || name == "CBNZ":
			if (m.registers[operands[0]] == 0) == (name == "CBZ") {
				at = slices.Index(code, operands[1]+":")
			}
		default:
			if err := m.step(name, operands); err != nil {
				t.Fatalf("%s: %v", code[at], err)
			}
		}
	}
	t.Fatal("the code has no end")
	return nil
}

var listOrWord = regexp.MustCompile(`\[[^\]]*\]|[^,\s]+`)

// fields cuts operands at commas, but for those of lists of registers.
func fields(rest string) []string { return listOrWord.FindAllString(rest, -1) }

// step executes one instruction. Those of vectors move nothing but by VLD1 and
// VST1.
func (m *armMachine) step(name string, operands []string) error {
	last := operands[len(operands)-1]
	value, err := m.value(operands[0])
	switch {
	case strings.HasPrefix(name, "VLD1"):
		return m.move(false, operands[1], operands[0], name == "VLD1.P")
	case strings.HasPrefix(name, "VST1"):
		return m.move(true, operands[0], operands[1], name == "VST1.P")
	case name == "VADD" || name == "VDUP" || strings.HasPrefix(name, "PAIR(") || strings.HasPrefix(name, "FADD_"):
		return nil
	case err != nil:
		return err
	}
	before := m.registers[last]
	if len(operands) == 3 {
		before = m.registers[operands[1]]
	}
	switch name {
	case "MOVD":
		m.registers[last] = value
	case "ADD":
		m.registers[last] = before + value
	case "SUB":
		m.registers[last] = before - value
	case "AND":
		m.registers[last] = before & value
	case "LSL":
		m.registers[last] = before << value
	default:
		return fmt.Errorf("an instruction that the test does not know")
	}
	return nil
}

var postIndexed = regexp.MustCompile(`^(\d*)\((R\d+)\)(?:\((R\d+)\))?$`)

// move writes down what moves between vectors of 16 B and memory, of which the
// base steps on if it is indexed after.
func (m *armMachine) move(write bool, vectors, at string, indexed bool) error {
	parts := postIndexed.FindStringSubmatch(at)
	if parts == nil {
		return fmt.Errorf("%s is no address that the test knows", at)
	}
	n := strings.Count(vectors, ".B16")
	for i := range n {
		m.touched = append(m.touched, touched{write, m.registers[parts[2]] + 16*i, 16})
	}
	step, _ := strconv.Atoi(parts[1])
	if step += m.registers[parts[3]]; indexed {
		m.registers[parts[2]] += step
	} else if step != 0 {
		return fmt.Errorf("%s steps on by an instruction that does not", at)
	}
	if parts[1] != "" && step != 16*n {
		return fmt.Errorf("%s steps on by %d B, %s has %d", at, step, vectors, 16*n)
	}
	return nil
}
