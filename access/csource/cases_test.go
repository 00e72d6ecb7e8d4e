package csource_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/stridebench/stridebench/access/csource"
)

// A cCase is C text that stands for the @ of a file, and what is wanted of that.
type cCase struct {
	text    string
	defines []string
	wants   []string
}

// TestCases: testdata/cases/*.txtar have pairs of a C file with an @ and of cases.
// "in f n=3" reads the function f, or a region without one, with defines.
// A case is text for the @, and lines that begin with a tab:
//
//	-D n=4       one more define
//	: rb8 wa0    its accesses: r or w, the array, the bytes after its start
//	= a[2] = 1;  it makes the accesses of that text
//	== a[2] = 1; its program is that text's, to the last loop
//	! t.c:2:1: n ... known    its error begins and goes on so
//	~ t.c:2:1: n ... known    so does the next note; ~ alone for none
//	loops 2, statements 3, carried 1, base 64    numbers of what is read
//	text a; b    what its statements and accesses are called
func TestCases(t *testing.T) {
	paths, err := filepath.Glob("testdata/cases/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			checkCases(t, csource.Options{}, archive.Files)
		})
	}
}

// checkCases checks files of cases, each after the file that they are put in.
func checkCases(t *testing.T, opts csource.Options, files []txtar.File) {
	t.Helper()
	for i := 0; i+1 < len(files); i += 2 {
		in, cases := files[i], casesOf(string(files[i+1].Data))
		for _, c := range cases {
			c.check(t, opts, strings.Fields(in.Name)[1:], strings.TrimSuffix(string(in.Data), "\n"))
		}
	}
}

// casesOf reads the text of cases. Lines that begin with ## are comments.
func casesOf(text string) (cases []*cCase) {
	var now *cCase
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		wanted, is := strings.CutPrefix(line, "\t")
		switch {
		case is && now == nil:
			now = &cCase{text: strings.Join(lines, "\n")}
			cases, lines = append(cases, now), nil
			fallthrough
		case is:
			if define, is := strings.CutPrefix(wanted, "-D "); is {
				now.defines = append(now.defines, define)
			} else {
				now.wants = append(now.wants, wanted)
			}
		case now != nil || line == "" && lines == nil:
			now = nil
		case !strings.HasPrefix(line, "## "):
			lines = append(lines, line)
		}
	}
	return cases
}

func (c *cCase) check(t *testing.T, opts csource.Options, words []string, file string) {
	t.Helper()
	opts.Defines = c.defines
	for _, word := range words {
		if strings.ContainsAny(word, "=[") {
			opts.Defines = append(opts.Defines, word)
		} else {
			opts.Function = word
		}
	}
	read := func(text string) (*csource.File, error) {
		return csource.Read("t.c", []byte(strings.Replace(file, "@", text, 1)), opts)
	}
	f, err := read(c.text)
	if refused, is := strings.CutPrefix(c.wants[0], "! "); is || err != nil {
		if err == nil || !says(err.Error(), refused) {
			t.Errorf("%s %q\nis refused with %v\nwant %s", c.text, c.defines, err, refused)
		}
		return
	}
	notes := 0
	for _, wanted := range c.wants {
		kind, want, _ := strings.Cut(wanted, " ")
		got := ""
		switch kind {
		case ":":
			got = walked(f)
		case "=", "==":
			other, err := read(want)
			if err != nil {
				t.Errorf("%s: %v", want, err)
				return
			}
			got, want = walked(f), walked(other)
			if got == "" {
				got = "nothing"
			} else if kind == "==" {
				got, want = f.Program.String(), other.Program.String()
			}
		case "~":
			if want == "" && len(f.Notes) == 0 || notes < len(f.Notes) &&
				says(f.Notes[notes].Error(), want) {
				notes++
				continue
			}
			got = fmt.Sprint(f.Notes)
		case "loops":
			got = fmt.Sprint(strings.Count(f.Program.String(), "for "))
		case "statements":
			got = fmt.Sprint(len(f.Statements))
		case "carried":
			got = fmt.Sprint(min(f.Carried, 3))
		case "base":
			got = fmt.Sprint(f.Arrays[0].Base - 1<<32)
		case "text", "names":
			var all []string
			for _, s := range f.Statements {
				all = append(all, s.Text)
			}
			if kind == "names" {
				all = nil
				for _, a := range f.Accesses {
					all = append(all, a.Text)
				}
			}
			got = strings.Join(all, "; ")
		}
		if got != want {
			t.Errorf("%s %q\ngives %s\nwant %s", c.text, c.defines, got, wanted)
		}
	}
	if notes > 0 && notes < len(f.Notes) {
		t.Errorf("%s: notes are %v", c.text, f.Notes)
	}
}

// says is whether a text begins as the parts between dots do, and has the others.
func says(text, parts string) bool {
	for n, part := range strings.Split(parts, " ... ") {
		at := strings.Index(text, part)
		if at < 0 || n == 0 && at > 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return true
}
