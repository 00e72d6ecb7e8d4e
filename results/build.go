package results

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// A Build is which program this is.
type Build struct {
	Version   string // of its module, or (devel)
	Commit    string // that it was built from, with "+dirty" if files were changed; "" if its build does not know
	GoVersion string
}

// devel is the version of a build that has none, as the go command writes it.
const devel = "(devel)"

// ThisBuild asks what the build left in the program, in whatever folder it is run.
func ThisBuild() Build {
	info, _ := debug.ReadBuildInfo()
	return buildOf(info)
}

// buildOf takes what a build knows, nil if nothing.
func buildOf(info *debug.BuildInfo) Build {
	if info == nil {
		return Build{devel, "", runtime.Version()}
	}
	b := Build{info.Main.Version, "", info.GoVersion}
	if b.Version == "" {
		b.Version = devel
	}
	dirty := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			b.Commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if b.Commit != "" {
		b.Commit += dirty
	}
	return b
}

// String is the version, or else the commit, or else (devel); the Go version; the
// platform.
func (b Build) String() string {
	version := b.Version
	if version == devel && b.Commit != "" {
		version = b.Commit
	}
	return fmt.Sprintf("%s %s %s/%s", version, b.GoVersion, runtime.GOOS, runtime.GOARCH)
}
