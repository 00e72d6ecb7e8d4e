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
	call     Place // that it was inlined for
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
	w := &walker{data: data, program: p, reader: data.Reader(),
		names: map[dwarf.Offset]string{}, origins: map[dwarf.Offset]dwarf.Offset{}}
	for {
		unit, err := w.reader.Next()
		if err != nil {
			return err
		}
		if unit == nil {
			break
		}
		producer, _ := unit.Val(dwarf.AttrProducer).(string)
		w.plain = strings.HasPrefix(producer, "GNU") && !strings.Contains(producer, " -O")
		if err := errors.Join(w.readLines(unit), w.children(unit, "", 0)); err != nil {
			return err
		}
	}
	for _, f := range w.found { // now that all have names
		if f.Tag == dwarf.TagVariable || f.Tag == dwarf.TagMember {
			w.variable(f)
		} else if err := w.function(f); err != nil {
			return err
		}
	}
	slices.SortStableFunc(p.lines, func(a, b lineEntry) int { return cmp.Compare(a.addr, b.addr) })
	slices.SortStableFunc(p.code, func(a, b code) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	return nil
}

// readLines adds the line table of a unit.
func (w *walker) readLines(unit *dwarf.Entry) error {
	w.files = nil
	table, err := w.data.LineReader(unit)
	if err != nil || table == nil {
		return err
	}
	for row := (dwarf.LineEntry{}); ; {
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
		w.program.lines = append(w.program.lines, entry)
	}
}

// A walker goes through the entries of DWARF.
type walker struct {
	data    *dwarf.Data
	program *Program
	reader  *dwarf.Reader
	names   map[dwarf.Offset]string       // with their scopes
	origins map[dwarf.Offset]dwarf.Offset // what entries without a name are instances of
	found   []found
	files   []*dwarf.LineFile // of the unit
	plain   bool              // the unit is GCC's of -O0, which reports locals too
}

// A found entry is of a function, an inlined call or a variable.
type found struct {
	*dwarf.Entry
	files  []*dwarf.LineFile
	within dwarf.Offset // the function that it is in, 0 if it is in none
	plain  bool
}

// children reads what is in an entry, in a scope such as "std::vector<int>::" and a function.
func (w *walker) children(parent *dwarf.Entry, scope string, within dwarf.Offset) error {
	if !parent.Children {
		return nil
	}
	for {
		e, err := w.reader.Next()
		if err != nil || e == nil || e.Tag == 0 {
			return err
		}
		inner, function := scope, within
		name, named := e.Val(dwarf.AttrName).(string)
		switch e.Tag {
		case dwarf.TagNamespace, dwarf.TagStructType, dwarf.TagClassType, dwarf.TagModule:
			if named {
				inner += name + "::"
			}
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine, dwarf.TagVariable, dwarf.TagMember:
			if named {
				w.names[e.Offset] = scope + name
			}
			for _, attribute := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
				if of, is := e.Val(attribute).(dwarf.Offset); is {
					w.origins[e.Offset] = of
				}
			}
			w.found = append(w.found, found{e, w.files, within, w.plain})
			if e.Tag == dwarf.TagSubprogram {
				function = e.Offset
			}
		}
		if err := w.children(e, inner, function); err != nil {
			return err
		}
	}
}

// name is that of an entry, or of what it is an instance of.
func (w *walker) name(at dwarf.Offset) string {
	for range 8 { // an inlined call, the function, its declaration
		if name, named := w.names[at]; named {
			return name
		}
		at = w.origins[at]
	}
	return ""
}

// line is the file and line that attributes of an entry name.
func (f found) line(file, line dwarf.Attr) (at Place) {
	if i, is := f.Val(file).(int64); is && int(i) < len(f.files) && f.files[i] != nil {
		n, _ := f.Val(line).(int64)
		at.File, at.Line = f.files[i].Name, int(n)
	}
	return at
}

// function adds the code of a function, if it has any.
func (w *walker) function(f found) error {
	ranges, err := w.data.Ranges(f.Entry)
	for _, r := range ranges {
		if r[1] > r[0] {
			w.program.code = append(w.program.code, code{r[0], r[1], w.name(f.Offset),
				f.Tag == dwarf.TagInlinedSubroutine, f.line(dwarf.AttrCallFile, dwarf.AttrCallLine)})
		}
	}
	return err
}

// variable adds one that has an address, the name of one that has a symbol, or an array.
func (w *walker) variable(f found) {
	const atAddress = 0x03 // DW_OP_addr
	name := w.name(f.Offset)
	if symbol, is := f.Val(dwarf.AttrLinkageName).(string); is {
		w.program.linked[symbol] = name
	}
	g := global{name: name}
	if of, is := f.Val(dwarf.AttrType).(dwarf.Offset); is {
		if t, err := w.data.Type(of); err == nil && hasArray(t) {
			g.array, g.size = true, uint64(t.Size())
		}
	}
	where, _ := f.Val(dwarf.AttrLocation).([]byte)
	isAt := len(where) == 9 && where[0] == atAddress
	if isAt {
		g.from = w.reader.ByteOrder().Uint64(where[1:])
	}
	own := g.array && f.Tag == dwarf.TagVariable && f.Val(dwarf.AttrDeclaration) == nil
	switch {
	case name == "":
	case isAt, own && f.within == 0:
		w.program.globals = append(w.program.globals, g)
	case own && !f.plain:
		at := f.line(dwarf.AttrDeclFile, dwarf.AttrDeclLine)
		at.Function = w.name(f.within)
		if at.File != "" && !ofSystem(at.File) {
			w.program.locals = append(w.program.locals, Local{name, at})
		}
	}
}

// hasArray reports whether a type is an array, or a struct with one.
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
			at.File, at.Line = c.call.File, c.call.Line
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
