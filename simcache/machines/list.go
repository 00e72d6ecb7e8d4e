package machines

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/stridebench/stridebench/simcache"
)

// A listed is a preset in a list.
type listed struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Sources     []string `json:"sources"`
}

// List returns the presets, for JSON.
func List() []listed {
	list := []listed{}
	for _, m := range described() {
		list = append(list, listed{m.Name, m.Description, append([]string{}, m.Sources...)})
	}
	return list
}

// WriteList writes the presets for people, a line each.
func WriteList(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range described() {
		fmt.Fprintf(t, "%s\t%s\n", m.Name, m.Description)
	}
	return t.Flush()
}

// WriteTables writes tables of a machine's simulated caches, for people.
func (m Machine) WriteTables(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "simulated\tsize\tways\tsets\tline\tpolicy\tinclusion")
	row := func(name string, g simcache.Geometry, policy, inclusion string) {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d B\t%s\t%s\n", name, simcache.Bytes(g.Size), g.Ways,
			g.Sets(), g.Line, policy, inclusion)
	}
	if m.Config.I1 != (simcache.Geometry{}) {
		row("I1", m.Config.I1, "", "")
	}
	for i, l := range m.Config.Levels {
		inclusion := cmp.Or(l.Inclusion, "non-inclusive")
		if i == 0 {
			inclusion = "" // the first level has none
		}
		row(cmp.Or(l.Name, fmt.Sprint("level ", i+1)), l.Geometry, cmp.Or(l.Policy, "lru"),
			inclusion)
	}
	if len(m.Config.TLB) > 0 {
		fmt.Fprintln(t, "\nsimulated data TLB\tentries\tways\tpage\treach")
	}
	for i, l := range m.Config.TLB {
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\n", cmp.Or(l.Name, fmt.Sprint("level ", i+1)), l.Entries,
			l.Ways, simcache.Bytes(l.Page), simcache.Bytes(l.Entries*l.Page))
	}
	return t.Flush()
}
