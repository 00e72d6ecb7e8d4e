package blocked_test

import (
	"fmt"

	"github.com/stridebench/stridebench/layouts/blocked"
)

// Channels in blocks of 16: those of 17 channels are padded to 32.
func ExampleParse() {
	tag, _ := blocked.Parse("nChw16c")
	b, _ := tag.Layout(2, 17, 5, 5)
	fmt.Println(tag, b)
	fmt.Println(b.Nested())
	fmt.Println(b.At(0, 16, 0, 0))
	_, err := blocked.Parse("nChw16")
	fmt.Println(err)
	// Output:
	// aBcd16b shape 2x17x5x5, padded to 2x32x5x5, strides (800, (400, 1), 80, 16), offset 0
	// shape 2x2x16x5x5, strides (800, 400, 1, 80, 16), offset 0
	// 400 <nil>
	// format "nChw16": want a letter for each dim and then blocks, such as abcd or nChw16c, at most 12 of each
}
