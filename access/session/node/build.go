package node

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// A Build identifies a build of this program.
type Build struct {
	Version string // or (devel)
	// with "+dirty" if files had been changed; "" if unknown
	Commit    string
	GoVersion string
}

const devel = "(devel)"

// ThisBuild returns the running program's build, as the go command recorded it.
func ThisBuild() Build {
	info, _ := debug.ReadBuildInfo()
	return buildOf(info)
}

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

// String returns version, else commit, else (devel); then Go version and platform.
func (b Build) String() string {
	version := b.Version
	if version == devel && b.Commit != "" {
		version = b.Commit
	}
	return fmt.Sprintf("%s %s %s/%s", version, b.GoVersion, runtime.GOOS, runtime.GOARCH)
}
