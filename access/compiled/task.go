package compiled

import (
	"fmt"
	"maps"
	"path/filepath"

	"github.com/stridebench/stridebench/access/csource"
	"github.com/stridebench/stridebench/access/given"
)

// TaskOf returns how to build and to run a function of a C file: the one of the options, else the
// one of its region.
func TaskOf(path string, text []byte, c csource.Options) (t Task, o Options, err error) {
	defines, err := given.Parse(text, c.Defines)
	if err != nil {
		return t, o, fmt.Errorf("define: %w", err)
	}
	maps.Copy(defines.Values, defines.Fields)
	t = Task{Path: path, Function: c.Function, Macros: defines.Macros, Values: defines.Values,
		Sizes: defines.Sizes, Folders: c.IncludeDirs}
	o = Options{Function: c.Function}
	if t.Function == "" {
		o.Region.File = filepath.Base(path)
		t.Function, o.Region.From, o.Region.To = given.FindRegion(text)
	}
	if compiler, known := Compilers[filepath.Ext(path)]; known {
		t.Compiler = []string{compiler}
	}
	return t, o, nil
}
