package reports

import (
	"strings"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// boxed is a canvas of pixels on which characters that its font lacks, such as Chinese ones in
// the name of a file, are boxes; they were nothing. A SVG's reader has more fonts.
type boxed struct{ vg.Canvas }

// FillString implements vg.Canvas.
func (c boxed) FillString(f font.Face, at vg.Point, text string) {
	var buffer sfnt.Buffer
	c.Canvas.FillString(f, at, strings.Map(func(r rune) rune {
		if glyph, err := f.Face.GlyphIndex(&buffer, r); err == nil && glyph == 0 {
			return '□'
		}
		return r
	}, text))
}
