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

// pictureMark is in every picture that File makes.
const pictureMark = "Software\x00stridebench"

// svgMark is it in a SVG.
const svgMark = "<metadata>stridebench</metadata>"

// Picture is the chart as a file of a name, which ends in .svg or .png.
func (c Chart) Picture(name string) ([]byte, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".svg":
		return bytes.Replace(c.SVG, []byte("<title>"), []byte(svgMark+"\n<title>"), 1), nil
	case ".png": // which says behind its header, of 8 and 25 B, who made it
		const head = 8 + 25
		text := binary.BigEndian.AppendUint32(nil, uint32(len(pictureMark)))
		text = append(text, "tEXt"+pictureMark...)
		text = binary.BigEndian.AppendUint32(text, crc32.ChecksumIEEE(text[4:]))
		return slices.Concat(c.PNG[:head], text, c.PNG[head:]), nil
	}
	return nil, CheckPicture(name)
}

// CheckPicture refuses the name of a file that Picture does not make.
func CheckPicture(name string) error {
	if ext := strings.ToLower(filepath.Ext(name)); ext != ".svg" && ext != ".png" {
		return fmt.Errorf("%s: want a name that ends in .svg or .png", name)
	}
	return nil
}

// IsPicture reports whether a file is one that Picture made.
func IsPicture(text []byte) bool {
	head := text[:min(len(text), 1<<10)]
	return bytes.Contains(head, []byte(pictureMark)) || bytes.Contains(head, []byte(svgMark))
}
