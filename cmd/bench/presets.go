package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/stridebench/stridebench/simcache/machines"
)

// writePresets lists the presets with a line each.
func writePresets(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range machines.Presets() {
		fmt.Fprintf(t, "%s\t%s\n", m.Name, m.Description)
	}
	return t.Flush()
}

func writePresetsJSON(w io.Writer) error {
	type jsonPreset struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Sources     []string `json:"sources"`
	}
	list := []jsonPreset{}
	for _, m := range machines.Presets() {
		list = append(list, jsonPreset{m.Name, m.Description, listed(m.Sources)})
	}
	return writeJSON(w, list)
}

// writePreset prints the description of one preset, as it came.
func writePreset(w io.Writer, name string) error {
	text, err := machines.File(name)
	if err != nil {
		return fmt.Errorf("--preset: %w", err)
	}
	_, err = w.Write(text)
	return err
}
