package reports

import (
	"strings"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// boxed is a canvas that draws a box for a character that its font lacks, such as a Chinese one.
// Without it the character is invisible. Readers of an SVG have more fonts.
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
