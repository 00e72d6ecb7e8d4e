package reports

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
	"strings"
)

// pictureMark is in every PNG that Picture makes.
const pictureMark = "Software\x00stridebench"

// svgMark is in every SVG that Picture makes.
const svgMark = "<metadata>stridebench</metadata>"

// Picture returns the chart as .svg or .png, by the ending of the name.
func (c Chart) Picture(name string) ([]byte, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".svg":
		return bytes.Replace(c.SVG, []byte("<title>"), []byte(svgMark+"\n<title>"), 1), nil
	case ".png": // the mark follows the signature and the header, of 8 and 25 B
		const head = 8 + 25
		text := binary.BigEndian.AppendUint32(nil, uint32(len(pictureMark)))
		text = append(text, "tEXt"+pictureMark...)
		text = binary.BigEndian.AppendUint32(text, crc32.ChecksumIEEE(text[4:]))
		return slices.Concat(c.PNG[:head], text, c.PNG[head:]), nil
	}
	return nil, CheckPicture(name)
}

// CheckPicture returns an error for a name that does not end in .svg or .png.
func CheckPicture(name string) error {
	if ext := strings.ToLower(filepath.Ext(name)); ext != ".svg" && ext != ".png" {
		return fmt.Errorf("%s: want a name that ends in .svg or .png", name)
	}
	return nil
}

// IsPicture reports whether Picture made this file.
func IsPicture(text []byte) bool {
	head := text[:min(len(text), 1<<10)]
	return bytes.Contains(head, []byte(pictureMark)) || bytes.Contains(head, []byte(svgMark))
}
