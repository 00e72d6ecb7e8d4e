package compiled

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Program is an executable that was built by a [Command].
type Program struct {
	path    string
	bias    uint64      // where it is in memory less where its file says
	lines   []lineEntry // in the order of addresses
	code    []code      // functions, the outer ones of inlined ones first
	globals []global
	locals  []Local
	linked  map[string]string // names of variables by their symbols
}

// A Local is an array of a function's own. An optimising compiler does not report its accesses
// unless its address leaves the function.
type Local struct {
	Name string
	Place
}

// Locals returns the arrays of functions' own whose accesses may be missing.
func (p *Program) Locals() []Local { return p.locals }

// A lineEntry is a row of a line table; file is "" where code of no line begins.
type lineEntry struct {
	addr uint64
	file string
	line int
}

// Code is machine code of a function, which may be inlined in another.
type code struct {
	from, to uint64
	name     string // with its namespaces and classes
	inlined  bool
	file     string // of the call that it was inlined for
	line     int
}

// A global is a variable with an address, or an array of the file that is not used, at 0.
type global struct {
	span
	name  string
	array bool // it is one, or a struct that holds one
	order int  // among those that DWARF has, from 1 on; 0 for others
}

// Open reads what names the places and objects of a program. The error says what would be
// right if bench cc did not build it.
func Open(path string) (*Program, error) {
	file, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s is no program that can run here (want one that was built by bench cc): %w",
			path, err)
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if errors.Is(err, elf.ErrNoSymbols) {
		return nil, fmt.Errorf("%s is stripped: want it with its symbols and lines (build without -s and strip)", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if !slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == "__tsan_func_entry" }) {
		return nil, fmt.Errorf("%s was not built by bench cc: bench cc -- g++ -O2 FILE.cpp -o %s", path, path)
	}
	p := &Program{path: path, linked: map[string]string{}}
	data, err := file.DWARF()
	if err == nil {
		err = p.readDWARF(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: what names its lines: %w", path, err)
	}
	p.addSymbols(symbols)
	return p, nil
}

// addSymbols adds the variables of the symbol table, by their names in the source where
// DWARF has them.
func (p *Program) addSymbols(symbols []elf.Symbol) {
	named, unused := map[uint64]global{}, []global(nil)
	for i, g := range p.globals {
		if g.order = i + 1; g.from == 0 {
			unused = append(unused, g)
		} else {
			named[g.from] = g
		}
	}
	p.globals = unused
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_OBJECT || s.Size == 0 {
			continue
		}
		symbol, _, _ := strings.Cut(s.Name, "@") // a version follows in what is a library's
		g := named[s.Value]
		g.span, g.name = span{s.Value, s.Size}, cmp.Or(g.name, p.linked[symbol], symbol)
		p.globals = append(p.globals, g)
	}
	slices.SortStableFunc(p.globals, func(a, b global) int { return cmp.Compare(a.from, b.from) })
}

// readDWARF reads the lines, functions and variables of all units.
func (p *Program) readDWARF(data *dwarf.Data) error {
	w := &walker{data: data, program: p, reader: data.Reader(), names: map[dwarf.Offset]string{}}
	for {
		unit, err := w.reader.Next()
		if err != nil || unit == nil {
			for _, e := range w.variables {
				w.variable(e)
			}
			p.sortCode()
			return err
		}
		producer, _ := unit.Val(dwarf.AttrProducer).(string)
		w.plain = strings.HasPrefix(producer, "GNU") && !strings.Contains(producer, " -O")
		if err := errors.Join(w.readLines(unit), w.children(unit, "")); err != nil {
			return err
		}
	}
}

func (p *Program) sortCode() {
	slices.SortStableFunc(p.lines, func(a, b lineEntry) int { return cmp.Compare(a.addr, b.addr) })
	slices.SortStableFunc(p.code, func(a, b code) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
}

// readLines adds the line table of a unit.
func (w *walker) readLines(unit *dwarf.Entry) error {
	w.files = nil
	table, err := w.data.LineReader(unit)
	if err != nil || table == nil {
		return err
	}
	p := w.program
	var row dwarf.LineEntry
	for {
		err := table.Next(&row)
		if errors.Is(err, io.EOF) {
			w.files = table.Files()
			return nil
		}
		if err != nil {
			return err
		}
		entry := lineEntry{addr: row.Address}
		if !row.EndSequence {
			entry.file, entry.line = row.File.Name, row.Line
		}
		p.lines = append(p.lines, entry)
	}
}

// A walker goes through the entries of DWARF.
type walker struct {
	data    *dwarf.Data
	program *Program
	reader  *dwarf.Reader
	names   map[dwarf.Offset]string
	// variables are named in the end, since what they are declared by may come behind.
	variables []*dwarf.Entry
	files     []*dwarf.LineFile // of the unit
	within    string            // the function that is read, or ""
	plain     bool              // the unit is GCC's of -O0, which reports locals too
}

// children reads what is in an entry, in a scope such as "std::vector<int>::".
func (w *walker) children(parent *dwarf.Entry, scope string) error {
	if !parent.Children {
		return nil
	}
	for {
		e, err := w.reader.Next()
		if err != nil || e == nil || e.Tag == 0 {
			return err
		}
		inner := scope
		name, _ := e.Val(dwarf.AttrName).(string)
		switch e.Tag {
		case dwarf.TagNamespace, dwarf.TagStructType, dwarf.TagClassType, dwarf.TagModule:
			if name != "" {
				inner += name + "::"
			}
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			w.setName(e, scope, name)
			if err := w.function(e); err != nil {
				return err
			}
		case dwarf.TagVariable, dwarf.TagMember:
			if e.Val(dwarf.AttrDeclaration) != nil || e.Val(dwarf.AttrLinkageName) != nil || hasAddress(e) ||
				scope == "" && w.within == "" {
				w.setName(e, scope, name)
				w.variables = append(w.variables, e)
			}
			w.local(e, name)
		}
		without := w.within
		if e.Tag == dwarf.TagSubprogram {
			w.within = cmp.Or(w.name(e), "?")
		}
		if err := w.children(e, inner); err != nil {
			return err
		}
		w.within = without
	}
}

// function adds the code of a function, if it has any.
func (w *walker) function(e *dwarf.Entry) error {
	ranges, err := w.data.Ranges(e)
	if err != nil {
		return err
	}
	for _, r := range ranges {
		if r[1] > r[0] {
			c := code{from: r[0], to: r[1], name: w.name(e), inlined: e.Tag == dwarf.TagInlinedSubroutine}
			if file, is := e.Val(dwarf.AttrCallFile).(int64); is && int(file) < len(w.files) && w.files[file] != nil {
				line, _ := e.Val(dwarf.AttrCallLine).(int64)
				c.file, c.line = w.files[file].Name, int(line)
			}
			w.program.code = append(w.program.code, c)
		}
	}
	return nil
}

// name is that of an entry, or of the one that it is an instance of.
func (w *walker) name(e *dwarf.Entry) string {
	for range 8 { // an inlined call, the function, its declaration
		if name, known := w.names[e.Offset]; known {
			return name
		}
		of, is := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !is {
			of, is = e.Val(dwarf.AttrSpecification).(dwarf.Offset)
		}
		if !is {
			break
		}
		if name, known := w.names[of]; known {
			w.names[e.Offset] = name
			return name
		}
		reader := w.data.Reader()
		reader.Seek(of)
		next, err := reader.Next()
		if err != nil || next == nil {
			break
		}
		e = next
		if name, is := e.Val(dwarf.AttrName).(string); is {
			return name
		}
	}
	return ""
}

// setName gives an entry its name.
func (w *walker) setName(e *dwarf.Entry, scope, name string) {
	if name != "" {
		w.names[e.Offset] = scope + name
	}
}

// hasAddress reports whether an entry is of a variable that has an address of its own.
func hasAddress(e *dwarf.Entry) bool {
	const atAddress = 0x03 // DW_OP_addr
	where, _ := e.Val(dwarf.AttrLocation).([]byte)
	return len(where) == 9 && where[0] == atAddress
}

// variable adds one that has an address, or the name of one that has a symbol.
func (w *walker) variable(e *dwarf.Entry) {
	name := w.name(e)
	g := global{name: name, array: w.holdsArray(e)}
	switch {
	case name == "":
	case hasAddress(e):
		where, _ := e.Val(dwarf.AttrLocation).([]byte)
		g.from = w.reader.ByteOrder().Uint64(where[1:])
		w.program.globals = append(w.program.globals, g)
	case g.array && e.Val(dwarf.AttrDeclaration) == nil:
		if t, err := w.data.Type(e.Val(dwarf.AttrType).(dwarf.Offset)); err == nil {
			g.size = uint64(t.Size())
			w.program.globals = append(w.program.globals, g)
		}
	}
	if symbol, is := e.Val(dwarf.AttrLinkageName).(string); is {
		w.program.linked[symbol] = name
	}
}

// local adds an array of a function's own.
func (w *walker) local(e *dwarf.Entry, name string) {
	if w.within == "" || w.plain || name == "" || hasAddress(e) || !w.holdsArray(e) {
		return
	}
	file, _ := e.Val(dwarf.AttrDeclFile).(int64)
	line, _ := e.Val(dwarf.AttrDeclLine).(int64)
	if int(file) < len(w.files) && w.files[file] != nil && !ofSystem(w.files[file].Name) {
		at := Place{w.within, w.files[file].Name, int(line)}
		w.program.locals = append(w.program.locals, Local{name, at})
	}
}

// holdsArray reports whether a variable is an array, or a struct with one.
func (w *walker) holdsArray(e *dwarf.Entry) bool {
	of, is := e.Val(dwarf.AttrType).(dwarf.Offset)
	if !is {
		return false
	}
	t, err := w.data.Type(of)
	return err == nil && hasArray(t)
}

func hasArray(t dwarf.Type) bool {
	switch t := t.(type) {
	case *dwarf.TypedefType:
		return hasArray(t.Type)
	case *dwarf.QualType:
		return hasArray(t.Type)
	case *dwarf.ArrayType:
		return true
	case *dwarf.StructType:
		return slices.ContainsFunc(t.Field, func(f *dwarf.StructField) bool { return hasArray(f.Type) })
	}
	return false
}

// place names the code at an address of the file.
func (p *Program) place(addr uint64) (at Place) {
	i, exact := slices.BinarySearchFunc(p.lines, addr+1, func(e lineEntry, addr uint64) int {
		return cmp.Compare(e.addr, addr)
	})
	if !exact {
		i--
	}
	if i >= 0 && p.lines[min(i, len(p.lines)-1)].addr > addr {
		i--
	}
	if i >= 0 {
		at.File, at.Line = p.lines[i].file, p.lines[i].line
	}
	for _, c := range p.code {
		if c.from > addr {
			break
		}
		if addr < c.to {
			at.Function = c.name // the last one is the innermost
		}
	}
	return at
}

// ownPlace is place, or where that was inlined into what is no header of the system.
func (p *Program) ownPlace(addr uint64) Place {
	at := p.place(addr)
	for i := len(p.code) - 1; i >= 0 && ofSystem(at.File); i-- {
		if c := p.code[i]; c.from <= addr && addr < c.to && c.inlined {
			at.File, at.Line = c.file, c.line
		}
	}
	return at
}

// ofSystem reports whether a file is a header of the compiler or of the system.
func ofSystem(file string) bool {
	return strings.HasPrefix(file, "/usr/") || strings.HasPrefix(file, "/opt/")
}

// matches reports whether a function has a name: all of it, or what follows its scopes, with
// or without the arguments of a template.
func (c code) matches(name string) bool {
	own, _, _ := strings.Cut(c.name, "<")
	return slices.ContainsFunc([]string{c.name, own}, func(full string) bool {
		return full == name || strings.HasSuffix(full, "::"+name)
	})
}

// functionCode returns the code of a function, and whether it is inlined anywhere.
func (p *Program) functionCode(name string) (spans []span, inlined bool) {
	for _, c := range p.code {
		if c.matches(name) {
			spans = append(spans, span{c.from, c.to - c.from})
			inlined = inlined || c.inlined
		}
	}
	return spans, inlined
}
