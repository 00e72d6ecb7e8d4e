package machines

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed presets/*.yaml
var presets embed.FS

// Names lists the presets, sorted.
func Names() []string {
	entries, err := presets.ReadDir("presets")
	if err != nil {
		panic(err) // they are part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// File is the description file of a preset, to copy and change. An unknown name
// is an error that lists the names.
func File(name string) ([]byte, error) {
	text, err := presets.ReadFile("presets/" + strings.ToLower(name) + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("no preset %q (known: %s)", name, strings.Join(Names(), ", "))
	}
	return text, nil
}

// Preset is the machine of that name. An unknown name is an error that lists
// the names. Capitals do not matter.
func Preset(name string) (Machine, error) {
	text, err := File(name)
	if err != nil {
		return Machine{}, err
	}
	return Parse(name, text)
}

// Presets are the machines that come with the program, by name.
func Presets() []Machine {
	var machines []Machine
	for _, name := range Names() {
		m, err := Preset(name)
		if err != nil {
			panic(err) // a test reads them all
		}
		machines = append(machines, m)
	}
	return machines
}
