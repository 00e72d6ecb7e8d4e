package strict

import (
	"errors"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/ast"
)

type document struct {
	Name  string   `yaml:"name"`
	Count int8     `yaml:"count"`
	Fast  bool     `yaml:"fast"`
	Words []string `yaml:"words"`
	Parts []part   `yaml:"parts"`
	Inner *part    `yaml:"inner"`
	Even  even     `yaml:"even"`
}

type part struct {
	Size  int     `yaml:"size"`
	Share float64 `yaml:"share"`
}

type even string

func (e *even) UnmarshalYAML(n ast.Node) error {
	text, err := Scalar(n, "an even word")
	if err != nil {
		return err
	}
	if len(text)%2 != 0 {
		return Refuse(n, errOdd)
	}
	*e = even(text)
	return nil
}

var errOdd = errors.New("an odd word")

// TestErrors: what is wrong, where, and what would be right.
func TestErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"nam: x\n", `f:1:1: unknown field "nam" (want one of name,`},
		{"parts:\n  - size: 1\n    sise: 2\n",
			`f:3:5: unknown field "sise" (want one of size, share)`},
		{"inner: {Size: 1}\n", `f:1:9: unknown field "Size" (want one of size, share)`},
		{"name: [a]\n", "f:1:7: a list where text is wanted"},
		{"name: {a: b}\n", "f:1:7: a mapping (key: value) where text is wanted"},
		{"count: many\n", "f:1:8: text where a whole number is wanted"},
		{"count: 1.5\n", "f:1:8: 1.5 where a whole number is wanted"},
		{"count: 010\n", "f:1:8: 010 has zeros in front, which some take for octal (want 10)"},
		{"count: -09\n", "f:1:8: -09 has zeros in front, which some take for octal (want -9)"},
		{"count: '0_10'\n", "f:1:8: 0_10 has zeros in front, which some take for octal (want 10)"},
		{"count: 00\n", "f:1:8: 00 has zeros in front, which some take for octal (want 0)"},
		{"inner: {share: 01.5}\n", "f:1:16: 01.5 has zeros in front, which some take for octal " +
			"(want 1.5)"},
		{"parts:\n  - size: 010\n", "f:2:11: 010 has zeros in front"},
		{"even: 0640\n", "f:1:7: 0640 has zeros in front, which some take for octal (want 640)"},
		{"even: 0.500\n", "f:1:7: an odd word"},
		{"even: 0x4\n", "f:1:7: an odd word"},
		{"count: 300\n", "f:1:8: 300 is out of range"},
		{"fast: 1\n", "f:1:7: a whole number where true or false is wanted"},
		{"parts: 3\n", "f:1:8: a number where a list ([A, B], or lines that begin with -) is wanted"},
		{"parts: abc\n", "f:1:8: a word where a list"},
		{"inner: 3\n", "f:1:8: a number where a mapping (key: value) is wanted"},
		{"parts: [a]\n", "f:1:9: a word where a mapping (key: value) is wanted"},
		{"words:\n\t- a\n", "f:2:1: found character '\t' that cannot start any token"},
		{"inner: {size: 1,0}\n", `f:1:17: "0" has no value (in braces commas part the entries: quote a value that has one)`},
		{"inner: {size: 1, share}\n", `f:1:18: "share" has no value`},
		{"inner: {share: a lot}\n", "f:1:16: text where a number is wanted"},
		{"even: abc\n", "f:1:7: an odd word"},
		{"# Notes\nof another kind\n", "f:2:1: "},
		{"cpu: A\nBenchmarkX 1 2 ns/op\n", "f:2:1: "},
		{"- a\n", "f:1:"},
		{"text\n\n```\n", "f:"},
		{"even: [ab]\n", "f:1:7: a list (want an even word)"},
		{"name: a\nname: b\n", `f:2:1: mapping key "name" already defined`},
		{"name: a\n---\nname: b\n", "f:3:1: a second document"},
		{"words: [a\n", "f:1:"},
		{"name: &a x\n", `f:1:7: "&": anchors, aliases, tags and merges are not read`},
		{"name: *a\n", `f:1:7: "*": anchors`},
		{"name: !!str x\n", `f:1:7: "!!str": anchors`},
		{"inner:\n  <<: {size: 1}\n", `f:2:3: "<<": anchors`},
		{strings.Repeat("a\n---\n", 9000), "f:3:1: a second document"},
		{"words: " + strings.Repeat("[", 60000),
			"f:1:72: more than 64 lists and mappings in each other"},
		{strings.Repeat("- ", 30000), "f:1:129: more than 64 lists and mappings in each other"},
		{strings.Repeat("#", maxFile+1), "f: longer than the 64 KiB"},
		{"\xff\xfea\x00:\x00", "f: it is UTF-16, as > of PowerShell writes it: want UTF-8 (| " +
			"Out-File -Encoding utf8)"},
	} {
		var d document
		_, err := Decode("f", []byte(test.text), &d)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%.80q gives %.200v\nwant %s", test.text, err, test.want)
		}
	}
}

// TestMark: what marks a file as UTF-8 is no part of its first key.
func TestMark(t *testing.T) {
	var value struct {
		Name string `yaml:"name"`
	}
	if _, err := Decode("a.yaml", []byte("\xEF\xBB\xBFname: x\n"), &value); err != nil ||
		value.Name != "x" {
		t.Errorf("%+v, %v", value, err)
	}
}

// TestPlaces: parts of the document are found by their paths.
func TestPlaces(t *testing.T) {
	var d document
	f, err := Decode("f", []byte("name: x\n\nparts:\n  - size: 3\n  - {share: .5}\n"), &d)
	if err != nil || d.Name != "x" || len(d.Parts) != 2 || d.Parts[0].Size != 3 ||
		d.Parts[1].Share != .5 {
		t.Fatalf("%+v, %v", d, err)
	}
	for path, want := range map[string]string{
		"":               "f: is odd",
		"name":           "f:1:7: is odd",
		"parts[0]":       "f:4:5: is odd",
		"parts[0].size":  "f:4:11: is odd",
		"parts[1].share": "f:5:13: is odd",
		"parts[2]":       "f: is odd",
		"a b[":           "f: is odd",
	} {
		if err := f.Errorf(path, "is %w", errOdd); err.Error() != strings.Replace(want, "odd",
			"an odd word", 1) || !errors.Is(err, errOdd) {
			t.Errorf("%q: %v", path, err)
		}
	}
	if f.Line("parts[1]") != 5 || f.Line("words") != 0 {
		t.Errorf("lines %d and %d", f.Line("parts[1]"), f.Line("words"))
	}
}

// TestEmpty: documents without content make an empty struct.
func TestEmpty(t *testing.T) {
	for _, text := range []string{"", "\n", "# nothing\n", "---\n", "%YAML 1.2\n---\n",
		"---\n---\n...\n"} {
		d := document{Name: "old"}
		if _, err := Decode("f", []byte(text), &d); err != nil || d.Name != "" {
			t.Errorf("%q: %+v, %v", text, d, err)
		}
	}
}

// FuzzDecode: nothing panics, and errors begin with the file.
func FuzzDecode(f *testing.F) {
	f.Add("name: x\ncount: 3\nfast: true\nwords: [a, b]\nparts:\n  - {size: 1, share: " +
		"0.5}\ninner: {size: 2}\neven: ab\n")
	f.Add("a: 1\n--- ")
	f.Add("inner: 3\nparts: [a, {size: x}]\n") // words where mappings are wanted
	f.Fuzz(func(t *testing.T, text string) {
		var d document
		file, err := Decode("f", []byte(text), &d)
		if err != nil && !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("error %q", err)
		}
		if err == nil && file.Errorf("name", "is odd").Error() == "" {
			t.Error("an error without text")
		}
	})
}
