package compiled

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
)

// A Program is an executable that was built by a [Command].
type Program struct {
	path    string
	bias    uint64      // where it is in memory less where its file says
	lines   []lineEntry // in the order of addresses
	code    []code      // functions, the outer ones of inlined ones first
	globals []global
	Locals  []Local // whose accesses may be missing
}

// A Local is an array of a function's own. An optimising compiler does not report its accesses
// unless its address leaves the function.
type Local struct {
	Name string
	Place
}

// A lineEntry is a row of a line table; at has no file where code of no line begins.
type lineEntry struct {
	addr uint64
	at   Place
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
}

// Open reads what names the places and objects of a program. The error says what would be
// right if bench cc did not build it.
func Open(path string) (*Program, error) {
	file, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s is no program that can run here "+
			"(want one that was built by bench cc): %w", path, err)
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		return nil, fmt.Errorf("%s is stripped: want it with its symbols and lines "+
			"(build without -s and strip): %w", path, err)
	}
	reports := func(s elf.Symbol) bool { return s.Name == "__tsan_func_entry" }
	if !slices.ContainsFunc(symbols, reports) {
		return nil, fmt.Errorf("%s was not built by bench cc: bench cc -- g++ -O2 FILE.cpp -o %[1]s", path)
	}
	p := &Program{path: path}
	data, err := file.DWARF()
	if err == nil {
		err = p.readDWARF(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: what names its lines: %w", path, err)
	}
	return p, nil
}

// readDWARF reads the lines, functions and variables of all units.
func (p *Program) readDWARF(data *dwarf.Data) error {
	w := &walker{data: data, program: p, reader: data.Reader(),
		known: map[dwarf.Offset]declaration{}}
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
			entry.at.File, entry.at.Line = row.File.Name, row.Line
		}
		w.program.lines = append(w.program.lines, entry)
	}
}

// A walker goes through the entries of DWARF.
type walker struct {
	data    *dwarf.Data
	program *Program
	reader  *dwarf.Reader
	known   map[dwarf.Offset]declaration
	found   []found
	files   []*dwarf.LineFile // of the unit
	plain   bool              // the unit is GCC's of -O0, which reports locals too
}

// A declaration is what an entry says of itself.
type declaration struct {
	name            string       // with its scope, or ""
	typed, instance dwarf.Offset // its type, and the entry that it is an instance of, or 0
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
			var d declaration
			if named {
				d.name = scope + name
			}
			d.typed, _ = e.Val(dwarf.AttrType).(dwarf.Offset)
			specified, _ := e.Val(dwarf.AttrSpecification).(dwarf.Offset)
			origin, _ := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
			d.instance = max(specified, origin) // it has one of these at most
			w.known[e.Offset] = d
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

// declaration is that of an entry, with the name and type of what it is an instance of.
func (w *walker) declaration(at dwarf.Offset) (all declaration) {
	for range 8 { // an inlined call, the function, its declaration
		d := w.known[at]
		all.name, all.typed = cmp.Or(all.name, d.name), cmp.Or(all.typed, d.typed)
		at = d.instance
	}
	return all
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
			w.program.code = append(w.program.code, code{r[0], r[1], w.declaration(f.Offset).name,
				f.Tag == dwarf.TagInlinedSubroutine,
				f.line(dwarf.AttrCallFile, dwarf.AttrCallLine)})
		}
	}
	return err
}

// variable adds one that has an address, the name of one that has a symbol, or an array.
func (w *walker) variable(f found) {
	const atAddress = 0x03 // DW_OP_addr
	d := w.declaration(f.Offset)
	g := global{name: d.name}
	if t, err := w.data.Type(d.typed); err == nil {
		g.array, g.size = hasArray(t), uint64(max(t.Size(), 0))
	}
	where, _ := f.Val(dwarf.AttrLocation).([]byte)
	isAt := len(where) == 9 && where[0] == atAddress
	if isAt {
		g.from = w.reader.ByteOrder().Uint64(where[1:])
	}
	own := g.array && f.Tag == dwarf.TagVariable && f.Val(dwarf.AttrDeclaration) == nil
	switch {
	case d.name == "":
	case isAt, own && f.within == 0:
		w.program.globals = append(w.program.globals, g)
	case own && !f.plain:
		at := f.line(dwarf.AttrDeclFile, dwarf.AttrDeclLine)
		at.Function = w.declaration(f.within).name
		if at.File != "" && !ofSystem(at.File) {
			w.program.Locals = append(w.program.Locals, Local{d.name, at})
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
		return slices.ContainsFunc(t.Field, func(f *dwarf.StructField) bool {
			return hasArray(f.Type)
		})
	}
	return false
}

// place names the code at an address of the file.
func (p *Program) place(addr uint64) (at Place) {
	after := sort.Search(len(p.lines), func(i int) bool { return p.lines[i].addr > addr })
	if after > 0 {
		at = p.lines[after-1].at
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
	return strings.HasSuffix("::"+c.name, "::"+name) || strings.HasSuffix("::"+own, "::"+name)
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
