package machines

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed presets/*.yaml
var presets embed.FS

// Names returns the names of the presets, sorted.
func Names() []string {
	entries, err := presets.ReadDir("presets")
	if err != nil {
		panic(err) // they are embedded
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// File returns a preset's description, to copy and change. An unknown name is an error that lists
// the names.
func File(name string) ([]byte, error) {
	text, err := presets.ReadFile("presets/" + strings.ToLower(name) + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("no preset %q (known: %s)", name,
			strings.Join(Names(), ", "))
	}
	return text, nil
}

// Preset returns a machine by name, in any case. An unknown name is an error that lists the names.
func Preset(name string) (Machine, error) {
	text, err := File(name)
	if err != nil {
		return Machine{}, err
	}
	return Parse(name, text)
}

// described returns the machines that come with the program, by name.
func described() []Machine {
	var machines []Machine
	for _, name := range Names() {
		m, err := Preset(name)
		if err != nil {
			panic(err) // a test reads all of them
		}
		machines = append(machines, m)
	}
	return machines
}
