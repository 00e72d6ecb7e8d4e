// Package missmap is the program's own and promises nothing. It shows where in its arrays a program
// misses. For each element, it counts the references of the last pass and their misses at each
// level. For each set of the first level, it counts the lines that missed.
package missmap

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stridebench/stridebench/layouts/nest"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/explain"
)

// A Map holds the misses of the last pass over a program, by place.
type Map struct {
	Name   string // of the loop nest, "" if it is the only one
	Levels []string
	Line   int // bytes, of the first level
	Arrays []Array
	Sets   []uint64 // lines that missed, by set of the first level
	All    Cell
}

// A Cell counts the references to one element of an array, or to a block of neighbours.
type Cell struct {
	Refs   uint64
	Missed []uint64 // by level
}

// An Array is an array divided into cells, row by row. A row is the last dim. An array of one dim
// is cut into several rows.
type Array struct {
	nest.Array
	Rows, Cols int // of cells
	High, Wide int // elements of a cell, in rows and columns
	Row        int // elements from one row to the next
	Cells      []Cell
	reach      int // elements of the widest access
}

// Most is the largest number of rows and columns of cells of an array.
type Most struct{ Rows, Cols int }

// mostLooked is the most references to look up one by one, in some seconds.
const mostLooked = 3e8

// Of simulates passes over a program and maps the last one onto the arrays. It returns the errors
// of NewHierarchy and RunProgram, and refuses more references than can be looked up.
func Of(
	c simcache.Config, passes int, p nest.Program, arrays []nest.Array, most Most,
) (Map, error) {
	n, err := p.Count()
	if float64(n)*float64(passes) > mostLooked {
		err = fmt.Errorf("%d references in each of %d passes, and each is looked up: want at most "+
			"%.0f together, a smaller shape", n, passes, mostLooked)
	}
	if err != nil {
		return Map{}, err
	}
	m := Map{Levels: c.LevelNames(), Line: c.First().Line, Sets: make([]uint64, c.First().Sets())}
	m.All.Missed = make([]uint64, len(m.Levels))
	at := map[string]int{}
	for _, a := range arrays {
		at[a.Tensor] = len(m.Arrays)
		m.Arrays = append(m.Arrays, cut(a, most, len(m.Levels)))
	}
	operands := p.Operands()
	of := make([]*Array, len(operands))
	for i, op := range operands {
		if k, known := at[op.Tensor]; known {
			of[i] = &m.Arrays[k]
			of[i].reach = max(of[i].reach, op.Width/of[i].Element)
		}
	}
	err = watch(c, passes, p, func(l outcome) bool {
		if l.pass < passes-1 {
			return true
		}
		m.All.count(l.missed)
		if a := of[l.operand]; a != nil {
			if cell := a.cell(l.addr); cell != nil {
				cell.count(l.missed)
			}
		}
		for _, line := range l.lines {
			if line.missed {
				m.Sets[line.set]++
			}
		}
		return true
	})
	m.Arrays = slices.DeleteFunc(m.Arrays, func(a Array) bool {
		return !slices.ContainsFunc(a.Cells, func(c Cell) bool { return c.Refs > 0 })
	})
	return m, err
}

func cut(a nest.Array, most Most, levels int) Array {
	of := Array{Array: a}
	elements := a.Bytes() / a.Element
	if of.Row = elements; len(a.Extents) > 1 {
		of.Row = a.Extents[len(a.Extents)-1]
	} else {
		for of.Row = 16; of.Row < 64 && of.Row*of.Row < elements; {
			of.Row *= 2
		}
		for of.Row < most.Cols && of.Row*most.Rows < elements {
			of.Row *= 2
		}
		of.Row = max(1, min(of.Row, elements))
	}
	rows := (elements + of.Row - 1) / max(of.Row, 1)
	of.High, of.Wide = (rows+most.Rows-1)/most.Rows, (of.Row+most.Cols-1)/most.Cols
	if elements == 0 {
		return of
	}
	of.Rows, of.Cols = (rows+of.High-1)/of.High, (of.Row+of.Wide-1)/of.Wide
	of.Cells = make([]Cell, of.Rows*of.Cols)
	missed := make([]uint64, len(of.Cells)*levels)
	for i := range of.Cells {
		of.Cells[i].Missed = missed[i*levels:][:levels:levels]
	}
	return of
}

// Whole reports whether each cell is one element.
func (a *Array) Whole() bool { return a.High == 1 && a.Wide == 1 }

func (a *Array) cell(addr uint64) *Cell {
	if addr < a.Base || addr-a.Base >= uint64(a.Bytes()) {
		return nil
	}
	element := int(addr-a.Base) / a.Element
	return &a.Cells[element/a.Row/a.High*a.Cols+element%a.Row/a.Wide]
}

// At returns the cell at a row and column. For the later elements of a wide access, it returns the
// cell of the access.
func (a *Array) At(row, col int) Cell {
	for back := range max(1, min(a.reach/a.Wide, col+1)) {
		if c := a.Cells[row*a.Cols+col-back]; c.Refs > 0 {
			return c
		}
	}
	return Cell{}
}

// Splits reports whether a line of the first level ends between a cell and the one before it.
func (a *Array) Splits(row, col, line int) bool {
	first := int(a.Base) + (row*a.Row+col)*a.Element
	return a.Whole() && first/line != (first-a.Element)/line
}

func (c *Cell) count(missed int) {
	c.Refs++
	for i := range missed {
		c.Missed[i]++
	}
}

// Share returns the part of a cell's references that missed at a level, from 0 to 1.
func (c Cell) Share(level int) float64 { return float64(c.Missed[level]) / float64(max(c.Refs, 1)) }

// String returns the references, and the misses at each level.
func (m Map) String() string {
	words := make([]string, len(m.Levels))
	for i, level := range m.Levels {
		words[i] = explain.Say("%d miss %s (%.2f%%)", m.All.Missed[i], level, 100*m.All.Share(i))
	}
	text := explain.Counted(int(m.All.Refs), "reference") + ": " + strings.Join(words, ", ")
	if m.Name != "" {
		text = m.Name + ": " + text
	}
	return text
}

// element names an element, such as x[1][2]; 4 bytes into it is x[1][2]+4.
func element(a nest.Array, addr uint64) string {
	number, index := int(addr-a.Base)/a.Element, ""
	if part := int(addr-a.Base) % a.Element; part > 0 {
		index = fmt.Sprintf("+%d", part)
	}
	for _, n := range slices.Backward(a.Extents) {
		index = fmt.Sprintf("[%d]%s", number%n, index)
		number /= n
	}
	return a.Tensor + index
}
