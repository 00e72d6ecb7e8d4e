package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/stridebench/stridebench/access/session"
)

// devel is the version of a build that has none, as the go command writes it.
const devel = "(devel)"

// buildInfo is what the build knows of this program, nil if nothing.
func buildInfo() *debug.BuildInfo {
	info, _ := debug.ReadBuildInfo()
	return info
}

// versionLine says which program this is: the version of its module, or else its
// commit, or else (devel); the Go version; the platform.
func versionLine(info *debug.BuildInfo) string {
	version, goVersion := version(info), runtime.Version()
	if info != nil {
		goVersion = info.GoVersion
		if commit := revision(info.Settings); version == devel && commit != "" {
			version = commit
		}
	}
	return fmt.Sprintf("%s %s %s/%s", version, goVersion, runtime.GOOS, runtime.GOARCH)
}

// thisProgram is what results say of the program that made them.
func thisProgram() session.Program {
	info := buildInfo()
	p := session.Program{Version: version(info), Command: commandLine()}
	if info != nil {
		p.Commit = revision(info.Settings)
	}
	return p
}

// version is that of stridebench's module.
func version(info *debug.BuildInfo) string {
	if info == nil || info.Main.Version == "" {
		return devel
	}
	return info.Main.Version
}

// revision is the commit that the program was built from, with "+dirty" if
// files were changed; "" if its build does not know. Results are of the program
// that made them, in whatever folder it is run.
func revision(settings []debug.BuildSetting) string {
	commit, dirty := "", ""
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if commit == "" {
		return ""
	}
	return commit + dirty
}
