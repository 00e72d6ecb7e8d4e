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

// A Program is an executable that a [Command] built.
type Program struct {
	path    string
	bias    uint64      // its address in memory minus that in the file
	lines   []lineEntry // sorted by address
	code    []code      // functions, each before those inlined in it
	globals []global
	Locals  []Local // arrays whose accesses may be missing
}

// A Local is a function's own array. An optimizing compiler does not report its accesses unless its
// address leaves the function.
type Local struct {
	Name string
	Place
}

// A lineEntry is a row of a line table. at is empty where code without lines begins.
type lineEntry struct {
	addr uint64
	at   Place
}

// A code is machine code of a function, perhaps inlined.
type code struct {
	from, to uint64
	name     string // with its namespaces and classes
	inlined  bool
	call     Place // the call that was inlined
}

// A global is a variable with an address, or an unused array of the file, at 0.
type global struct {
	span
	name  string
	array bool // an array, or a struct that holds one
}

// Open reads the names of a program's places and objects. If bench cc did not build the program,
// the error says how to.
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
		return nil, fmt.Errorf(
			"%s was not built by bench cc: bench cc -- g++ -O2 FILE.cpp -o %[1]s", path)
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
	for _, f := range w.found { // now all have names
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

type walker struct {
	data    *dwarf.Data
	program *Program
	reader  *dwarf.Reader
	known   map[dwarf.Offset]declaration
	found   []found
	files   []*dwarf.LineFile // of the unit
	plain   bool              // GCC -O0 made the unit; it reports locals too
}

type declaration struct {
	name            string       // with its scope, or ""
	typed, instance dwarf.Offset // its type, and the entry that it is an instance of, or 0
}

type found struct {
	*dwarf.Entry
	files  []*dwarf.LineFile
	within dwarf.Offset // the function around it, or 0
	plain  bool
}

// children reads the children of an entry in a scope such as "std::vector<int>::".
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
			d.instance = max(specified, origin) // an entry has at most one
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

// declaration merges an entry with the entries that it is an instance of.
func (w *walker) declaration(at dwarf.Offset) (all declaration) {
	for range 8 { // an inlined call, the function, its declaration
		d := w.known[at]
		all.name, all.typed = cmp.Or(all.name, d.name), cmp.Or(all.typed, d.typed)
		at = d.instance
	}
	return all
}

func (f found) line(file, line dwarf.Attr) (at Place) {
	if i, is := f.Val(file).(int64); is && int(i) < len(f.files) && f.files[i] != nil {
		n, _ := f.Val(line).(int64)
		at.File, at.Line = f.files[i].Name, int(n)
	}
	return at
}

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

// variable adds a variable with an address, or an array of the program's own.
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
			at.Function = c.name // the last match is the innermost
		}
	}
	return at
}

// ownPlace is place, but with the caller's line for code inlined from system headers.
func (p *Program) ownPlace(addr uint64) Place {
	at := p.place(addr)
	for i := len(p.code) - 1; i >= 0 && ofSystem(at.File); i-- {
		if c := p.code[i]; c.from <= addr && addr < c.to && c.inlined {
			at.File, at.Line = c.call.File, c.call.Line
		}
	}
	return at
}

func ofSystem(file string) bool {
	return strings.HasPrefix(file, "/usr/") || strings.HasPrefix(file, "/opt/")
}

// matches reports whether a function has a name, perhaps without scopes and template arguments.
func (c code) matches(name string) bool {
	own, _, _ := strings.Cut(c.name, "<")
	return strings.HasSuffix("::"+c.name, "::"+name) || strings.HasSuffix("::"+own, "::"+name)
}

func (p *Program) functionCode(name string) (spans []span, inlined bool) {
	for _, c := range p.code {
		if c.matches(name) {
			spans = append(spans, span{c.from, c.to - c.from})
			inlined = inlined || c.inlined
		}
	}
	return spans, inlined
}
