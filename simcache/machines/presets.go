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
		return nil, fmt.Errorf("no preset %q%s (known: %s)", name, meant(name),
			strings.Join(Names(), ", "))
	}
	return text, nil
}

func meant(name string) string {
	var all []string
	for _, known := range Names() {
		if letters(name) != "" && strings.Contains(strings.ReplaceAll(known, "-", ""),
			letters(name)) {
			all = append(all, known)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return ": did you mean " + strings.Join(all, " or ") + "?"
}

func letters(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "", ".", "").Replace(strings.ToLower(name))
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
