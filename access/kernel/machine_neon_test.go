package kernel

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// stepARM64 executes one instruction. Those of vectors move nothing but by VLD1 and
// VST1.
func stepARM64(m *state, _ map[int]int, name string, operands []string) (label string, err error) {
	last := operands[len(operands)-1]
	value, err := m.value(operands[0])
	switch {
	case name == "CBZ" || name == "CBNZ":
		if (value == 0) == (name == "CBZ") {
			return operands[1], nil
		}
		return "", err
	case strings.HasPrefix(name, "VLD1"):
		return "", m.moveNEON(false, operands[1], operands[0], name == "VLD1.P")
	case strings.HasPrefix(name, "VST1"):
		return "", m.moveNEON(true, operands[0], operands[1], name == "VST1.P")
	case name == "VADD" || name == "VDUP" || strings.HasPrefix(name, "PAIR("),
		strings.HasPrefix(name, "FADD_"):
		return "", nil
	case err != nil:
		return "", err
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
		return "", fmt.Errorf("an instruction that the test does not know")
	}
	return "", nil
}

var postIndexed = regexp.MustCompile(`^(\d*)\((R\d+)\)(?:\((R\d+)\))?$`)

// moveNEON writes down what moves between vectors of 16 B and memory. The base steps on if it
// is indexed after.
func (s *state) moveNEON(write bool, vectors, at string, indexed bool) error {
	parts := postIndexed.FindStringSubmatch(at)
	if parts == nil {
		return fmt.Errorf("%s is no address that the test knows", at)
	}
	n := strings.Count(vectors, ".B16")
	for i := range n {
		s.touch(write, s.registers[parts[2]]+16*i, 16)
	}
	step, _ := strconv.Atoi(parts[1])
	if step += s.registers[parts[3]]; indexed {
		s.registers[parts[2]] += step
	} else if step != 0 {
		return fmt.Errorf("%s steps on by an instruction that does not", at)
	}
	if parts[1] != "" && step != 16*n {
		return fmt.Errorf("%s steps on by %d B, %s has %d", at, step, vectors, 16*n)
	}
	return nil
}
