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
		return nil, fmt.Errorf("no preset %q%s (known: %s)", name, meant(name),
			strings.Join(Names(), ", "))
	}
	return text, nil
}

// meant asks for the presets whose names have a part that was typed.
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

// letters are those of a name, and its digits, in small letters.
func letters(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "", ".", "").Replace(strings.ToLower(name))
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
