package main

import (
	"io"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stridebench/stridebench/access/session/progress"
)

// TestProgress: a count that goes on for long says how far it is.
func TestProgress(t *testing.T) {
	defer func(before time.Duration) { progress.LineAfter = before }(progress.LineAfter)
	progress.LineAfter = time.Millisecond
	inFolder(t, map[string]string{"long.c": `float a[3000], b[3000];
void f(void) {
	for (int i = 0; i < 3000; i++)
		for (int k = 0; k <= i; k++)
			a[i] += a[k] + b[i-k];
}
`})
	stderr, err := os.Create("stderr") // lines come beside all else
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	verb := "sim --program long.c --function f --D1 1024,2,64 --LL 4096,2,64"
	if code := run(t.Context(), typed(verb), io.Discard, stderr); code != 0 {
		t.Errorf("exit code %d", code)
	}
	said, err := os.ReadFile("stderr")
	if !regexp.MustCompile(`simulating long\.c.*%`).Match(said) {
		t.Errorf("%q, %v", said, err)
	}
}
