package turns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/access"
)

func plan() []access.Comparison { return []access.Comparison{{{Name: "A/n=8"}, {Name: "A/n=16"}}} }

// A fake is a bench program whose process is a function.
type fake struct {
	name, help string
	list       []string
	order      *[]string // of the turns of all
	asked      [][]string
}

func (f *fake) run(ctx context.Context, args ...string) ([]byte, error) {
	switch {
	case args[0] == "list":
		return []byte(strings.Join(f.list, "\n") + "\n"), nil
	case slices.Contains(args, "--help"):
		return []byte(f.help), nil
	}
	*f.order = append(*f.order, f.name)
	f.asked = append(f.asked, args)
	return fmt.Appendf(nil, "goos: %s\n# date: %d\n\nBenchmarkA/n=8 1 %d ns/op\n# overhead: "+
		"3%%\n# warning: load\n", f.name, len(f.asked), len(f.asked)), nil
}

// TestRun: who is first changes from turn to turn, each is asked for what it
// has, by flags that it knows, and the results have one head.
func TestRun(t *testing.T) {
	var order []string
	old := &fake{name: "old", list: []string{"A/n=8", "Gone", "Study"}, help: "  --sample-time",
		order: &order}
	new := &fake{name: "new", list: []string{"A/n=8", "A/n=16"},
		help: "  --sample-time\n  --times-only", order: &order}
	if _, err := meet(t.Context(), "ls", (&fake{}).run); err == nil ||
		err.Error() != "ls is not a bench program: its 'run --help' lacks --sample-time" {
		t.Errorf("another program: %v", err)
	}
	contender := func(f *fake) *contender {
		c, err := meet(t.Context(), f.name, f.run)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	turns := Turns{old: contender(old), new: contender(new), Comparisons: plan(), Count: 3,
		Flags: []string{"run"}}
	oldText, newText, err := turns.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, " "); got != "old new new old old new" {
		t.Errorf("turns %s", got)
	}
	if got, want := string(oldText), "goos: old\n# date: 1\n\nBenchmarkA/n=8 1 1 "+
		"ns/op\nBenchmarkA/n=8 1 2 ns/op\nBenchmarkA/n=8 1 3 ns/op\n# end: 3 results\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if !bytes.HasPrefix(newText, []byte("goos: new\n")) {
		t.Errorf("the new one's results are %q", newText)
	}
	if got := fmt.Sprint(old.asked[2], new.asked[0],
		new.asked[1]); got != `[run --filter .fullname:("A/n=8")] [run --filter .fullname:("A/n=8" OR "A/n=16")] [run --times-only --filter .fullname:("A/n=8" OR "A/n=16")]` {
		t.Errorf("asked for %s", got)
	}
	if gone := turns.Gone([]string{"Study"}); fmt.Sprint(gone) != "[Gone]" {
		t.Errorf("gone are %v", gone)
	}
	turns.Comparisons = []access.Comparison{{{Name: "A/n=16"}}}
	if _, _, err := turns.Run(t.Context()); !errors.Is(err, errNoneInCommon) {
		t.Errorf("%v", err)
	}
}
