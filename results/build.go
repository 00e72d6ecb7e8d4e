package results

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// A Build identifies a build of this program.
type Build struct {
	Version string // of its module, or (devel)
	// that it was built from, with "+dirty" if files had been changed; "" if unknown
	Commit    string
	GoVersion string
}

// devel is the version of a build that has none, as the go command writes it.
const devel = "(devel)"

// ThisBuild reads what the go command recorded in the running program.
func ThisBuild() Build {
	info, _ := debug.ReadBuildInfo()
	return buildOf(info)
}

// buildOf converts what the go command recorded, which may be nil.
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

// String returns the version, or else the commit, or else (devel); then the Go version
// and the platform.
func (b Build) String() string {
	version := b.Version
	if version == devel && b.Commit != "" {
		version = b.Commit
	}
	return fmt.Sprintf("%s %s %s/%s", version, b.GoVersion, runtime.GOOS, runtime.GOARCH)
}
