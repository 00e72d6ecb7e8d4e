package node

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestBuild: a build is named by its module's version, by its commit where
// it has none, and has a line without any stamp too.
func TestBuild(t *testing.T) {
	stamped := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"},
		{Key: "vcs.modified", Value: "true"}}
	platform := " " + runtime.GOOS + "/" + runtime.GOARCH
	for name, test := range map[string]struct {
		info *debug.BuildInfo
		want string
	}{
		"go install of a release": {&debug.BuildInfo{GoVersion: "go1.26.1",
			Main: debug.Module{Version: "v1.2.3"}}, "v1.2.3 go1.26.1"},
		"go build in a checkout": {&debug.BuildInfo{GoVersion: "go1.26.1",
			Main: debug.Module{Version: "v1.2.4-0.20260102030405-abc+dirty"}, Settings: stamped},
			"v1.2.4-0.20260102030405-abc+dirty go1.26.1"},
		"a checkout, version devel": {&debug.BuildInfo{GoVersion: "go1.26.1",
			Main: debug.Module{Version: "(devel)"}, Settings: stamped}, "abc+dirty go1.26.1"},
		"-buildvcs=false": {&debug.BuildInfo{GoVersion: "go1.26.1",
			Main: debug.Module{Version: "(devel)"}}, "(devel) go1.26.1"},
		"no module": {&debug.BuildInfo{GoVersion: "go1.26.1"}, "(devel) go1.26.1"},
		"a clean checkout": {&debug.BuildInfo{GoVersion: "go1.26.1",
			Settings: []debug.BuildSetting{stamped[0], {Key: "vcs.modified", Value: "false"}}},
			"abc go1.26.1"},
		"modified alone": {&debug.BuildInfo{GoVersion: "go1.26.1", Settings: stamped[1:]},
			"(devel) go1.26.1"},
		"nothing known": {nil, "(devel) " + runtime.Version()},
	} {
		if got := buildOf(test.info).String(); got != test.want+platform {
			t.Errorf("%s: %q, want %q", name, got, test.want+platform)
		}
	}
}
