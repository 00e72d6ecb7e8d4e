package results_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/results"
)

// TestFiles: a set comes apart into what each of its files has, and says of comments what all have
// in common. A mark of UTF-8 at the head of a file is not part of its first line.
func TestFiles(t *testing.T) {
	set := must(results.Read(write(t, "a.txt",
		"\xEF\xBB\xBF# commit: 1\n# version: 2\nBenchmarkA 1 5 ns/op\nBenchmarkB 1 5 ns/op\n"),
		write(t, "b.txt", "# commit: 1\n# version: 3\n# load: 4\nBenchmarkC 1 5 ns/op\n")))
	var got []string
	for _, part := range set.Files() {
		got = append(got, fmt.Sprint(len(part.Results), " ", part.Comment("version")))
	}
	if diff := cmp.Diff([]string{"2 2", "1 3"}, got); diff != "" {
		t.Error(diff)
	}
	if commit, version, load := set.Comment("commit"), set.Comment("version"),
		set.Comment("load"); commit != "1" || version != "" || load != "" {
		t.Errorf("%q, %q, %q", commit, version, load)
	}
}
