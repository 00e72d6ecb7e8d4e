package machines

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Listed is the entry of a preset in a list.
type Listed struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Sources     []string `json:"sources"`
}

// List returns the presets, for JSON.
func List() []Listed {
	list := []Listed{}
	for _, m := range Presets() {
		list = append(list, Listed{m.Name, m.Description, append([]string{}, m.Sources...)})
	}
	return list
}

// WriteList writes a list of the presets for people, a line each.
func WriteList(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range Presets() {
		fmt.Fprintf(t, "%s\t%s\n", m.Name, m.Description)
	}
	return t.Flush()
}
