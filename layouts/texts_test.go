package layouts_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stridebench/stridebench/layouts"
)

// readers are what reads a text that somebody types, by the section of testdata/texts.txt.
var readers = map[string]func(text string) (any, error){
	"chain": func(text string) (any, error) { return applied(must(layouts.Contiguous(3, 4)), text) },
	"expression": func(text string) (any, error) {
		_, _, _, err := layouts.ParseExpression(text)
		return nil, err
	},
	"shape": func(text string) (any, error) { return layouts.ParseShape(text) },
	"dtype": func(text string) (any, error) { return layouts.ParseDType(text) },
}

// ofTensor reads chains of a tensor such as "complex64 3x4".
func ofTensor(text string) func(chain string) (any, error) {
	dtype, shape, _ := strings.Cut(text, " ")
	sizes := must(layouts.ParseShape(shape))
	x := must(layouts.Zeros(must(layouts.ParseDType(dtype)), sizes...))
	return func(chain string) (any, error) {
		y, err := applied(x, chain)
		if err != nil {
			return nil, err
		}
		return fmt.Sprint(y.Layout(), " of ", y.DType()), nil
	}
}

// TestTexts: a text has the result that testdata/texts.txt says after a tab, or the error, which
// names the place and what would be right.
func TestTexts(t *testing.T) {
	var read func(string) (any, error)
	lines := strings.Lines(string(must(os.ReadFile("testdata/texts.txt"))))
	for line := range lines {
		text, want, isCase := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !isCase {
			if read = readers[text]; read == nil {
				read = ofTensor(text)
			}
			continue
		}
		words, refused := strings.CutPrefix(want, "error: ")
		result, err := read(text)
		if got := fmt.Sprint(result, err); (err != nil) != refused || !strings.Contains(got, words) {
			t.Errorf("%s: %v, %v, want %s", text, result, err, want)
		}
	}
}
