package blocked_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stridebench/stridebench/layouts/blocked"
)

// TestOneDNNTags: oneDNN's own formats put elements where ours do, by what a
// reorder to the format leaves in memory.
func TestOneDNNTags(t *testing.T) {
	type tagCase struct {
		Tag, Canonical string
		Shape          []int
		Padded         []int
		Size           int
		Head           []int
		Checksum       int64
	}
	var memory []int
	check := func(c tagCase) {
		if slices.Contains(misnamed, c.Tag) {
			return
		}
		tag := must(blocked.Parse(c.Tag))
		b := must(tag.Layout(c.Shape...))
		memory = slices.Grow(memory[:0], b.Nested().Numel())[:b.Nested().Numel()]
		clear(memory)
		n := 0
		for at := range b.Offsets() {
			n++
			memory[at] = n
		}
		got := tagCase{Tag: c.Tag, Canonical: tag.String(), Shape: b.Shape(), Padded: b.Padded(),
			Size: len(memory), Head: memory[:min(64, len(memory))], Checksum: checksum(memory)}
		if diff := cmp.Diff(c, got); diff != "" {
			t.Errorf("%s (-oneDNN +ours):\n%s", c.Tag, diff)
		}
	}
	files := []string{"testdata/onednn/tags.jsonl.gz"}
	if dir := os.Getenv("ONEDNN_VECTORS"); dir != "" {
		files = append(files, must(filepath.Glob(filepath.Join(dir, "tags.jsonl.gz")))...)
	}
	for _, file := range files {
		lines := json.NewDecoder(must(gzip.NewReader(must(os.Open(file)))))
		cases := 0
		for ; lines.More(); cases++ {
			var c tagCase
			if err := lines.Decode(&c); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			check(c)
		}
		if t.Logf("%s: %d cases", file, cases); cases == 0 {
			t.Errorf("%s holds no case", file)
		}
	}
}

// TestTexts: a text has the result that testdata/texts.txt says after a tab, or the error, which
// says what would be right. A line without a tab names what reads the texts after it.
func TestTexts(t *testing.T) {
	var reader string
	for line := range strings.Lines(string(must(os.ReadFile("testdata/texts.txt")))) {
		text, want, isCase := strings.Cut(strings.TrimSuffix(line, "\n"), "\terror: ")
		if !isCase {
			reader = text
			continue
		}
		_, err := blocked.Parse(text)
		if reader != "tag" {
			var shape []int
			if err := json.Unmarshal([]byte(text), &shape); err != nil {
				t.Fatal(err)
			}
			_, err = must(blocked.Parse(reader)).Layout(shape...)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// misnamed are names in oneDNN 2.6's header that do not say what they are: two
// with a capital I and no block of i, and two where i and o are the other way
// round (of which one has the places of its name, and one has not).
var misnamed = []string{"OhwI32o", "gOhwI32o", "gIOhw2i8o16i2o", "gIOdhw2i8o16i2o"}

func checksum(values []int) (sum int64) {
	for i, v := range values {
		if sum += int64((i + 1) * v); sum >= 1<<61-1 {
			sum %= 1<<61 - 1
		}
	}
	return sum
}

// The tags that property tests draw from: one and more blocks of a dim, blocks
// of several, orders, and no blocks.
var someTags = []string{"abc", "cab", "aBc4b", "Abc3a", "ABc4b2a", "BAc2a3b2a", "aBC2c4b2c",
	"aBC4b4c2b", "ABC2a2b2c", "Cab5c"}

// TestTagsByDefinition: of a tag's letters and numbers, taken literally: places
// count through the order of the dims, blocks of a dim as one, then through the
// blocks, and an index of a dim is what its parts make together.
func TestTagsByDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 2))
	for range draws(2000) {
		text := someTags[random.IntN(len(someTags))]
		shape := []int{random.IntN(8), random.IntN(9), random.IntN(10)}
		b := must(must(blocked.Parse(text)).Layout(shape...))
		want := map[int]string{} // the index at each place
		at := 0
		var count func(rest string, index [3]int)
		count = func(rest string, index [3]int) {
			if rest == "" {
				if index[0] < shape[0] && index[1] < shape[1] && index[2] < shape[2] {
					want[at] = fmt.Sprint(index)
				}
				at++
				return
			}
			trips, d, rest := part(text, rest, shape)
			for i := range trips {
				next := index
				next[d] = index[d]*trips + i
				count(rest, next)
			}
		}
		count(text, [3]int{})
		got := map[int]string{}
		for i := range shape[0] {
			for j := range shape[1] {
				for k := range shape[2] {
					got[must(b.At(i, j, k))] = fmt.Sprint([3]int{i, j, k})
				}
			}
		}
		for _, l := range b.Padding() {
			for place := range l.Offsets() {
				got[place] += "padding"
			}
		}
		for place := range at {
			if want[place] == "" {
				want[place] = "padding"
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || b.Nested().Numel() != at {
			t.Fatalf("%s of %v: %d places, ours %d (-want +got):\n%s", text, shape, at, b.Nested().Numel(),
				diff)
		}
	}
}

var blocks = regexp.MustCompile(`(\d+)([a-z])`)

// draws is a number of random cases, a fifth with -short.
func draws(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

// part reads the first part of the rest of a tag: the whole blocks of a dim, or
// a block.
func part(text, rest string, shape []int) (trips, dim int, after string) {
	size := 0
	for rest[0] <= '9' {
		size = size*10 + int(rest[0]-'0')
		rest = rest[1:]
	}
	dim, after = strings.IndexByte("abc", rest[0]|0x20), rest[1:]
	if size > 0 {
		return size, dim, after
	}
	block := 1
	for _, m := range blocks.FindAllStringSubmatch(text, -1) {
		if m[2] == strings.ToLower(rest[:1]) {
			block *= must(strconv.Atoi(m[1]))
		}
	}
	return (shape[dim] + block - 1) / block, dim, after
}

// TestPieces: the pieces of two tensors of one shape bring the same elements
// together as their indices do, each once, in the fewest pieces without padding.
func TestPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 4))
	for range draws(2000) {
		shape := []int{random.IntN(8), random.IntN(9), random.IntN(10)}
		some := func() blocked.Layout {
			return must(must(blocked.Parse(someTags[random.IntN(len(someTags))])).Layout(shape...))
		}
		from, to := some(), some()
		pieces, err := blocked.Pieces(random.Perm(3), to, from)
		if err != nil {
			if !strings.Contains(err.Error(), "neither divides the other") {
				t.Fatal(err)
			}
			continue
		}
		var want, got [][]int
		toAt, fromAt := slices.Collect(to.Offsets()), slices.Collect(from.Offsets())
		for i := range toAt {
			want = append(want, []int{toAt[i], fromAt[i]})
		}
		for _, p := range pieces {
			first, second := slices.Collect(p[0].Offsets()), slices.Collect(p[1].Offsets())
			for i := range first {
				got = append(got, []int{first[i], second[i]})
			}
		}
		slices.SortFunc(want, slices.Compare)
		slices.SortFunc(got, slices.Compare)
		if !slices.EqualFunc(want, got, slices.Equal) {
			t.Fatalf("%v to %v: pieces %v", from, to, pieces)
		}
		if slices.Equal(to.Padded(), shape) && slices.Equal(from.Padded(), shape) && len(pieces) != 1 {
			t.Fatalf("%v to %v: %d pieces without padding", from, to, len(pieces))
		}
	}
}

// FuzzParse: what is read is printed as a tag that is read as the same, and
// what is not is refused within the text.
func FuzzParse(f *testing.F) {
	for _, tag := range append([]string{"nChw16c", "gOIdhw16i16o", "ldigo", "ABcd16b16a2b", "aBcd",
		"x", "a2"}, someTags...) {
		f.Add(tag)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tag, err := blocked.Parse(text)
		if err != nil {
			return
		}
		again, err := blocked.Parse(tag.String())
		if err != nil || again.String() != tag.String() || again.Rank() != tag.Rank() {
			t.Errorf("%q is %v, and that is %v, %v", text, tag, again, err)
		}
	})
}
