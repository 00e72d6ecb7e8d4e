// Package infile is the program's own and promises nothing. It reads files of results as text.
package infile

import (
	"bufio"
	"io"
	"os"
)

// Most is the most bytes of a file, so that a stranger's file does not exhaust memory.
const Most = 64 << 20

// Text returns a file's text, cut just above Most, without a UTF-8 mark.
func Text(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return TextOf(file)
}

// TextOf is Text for an open file.
func TextOf(file io.Reader) ([]byte, error) {
	text := bufio.NewReader(io.LimitReader(file, Most+1))
	SkipMark(text)
	return io.ReadAll(text)
}

// SkipMark skips the UTF-8 mark (BOM) of Windows editors and returns its length. It would become
// part of the first key.
func SkipMark(text *bufio.Reader) int {
	const mark = "\xEF\xBB\xBF"
	if head, _ := text.Peek(len(mark)); string(head) != mark { // the next read repeats an error
		return 0
	}
	n, _ := text.Discard(len(mark))
	return n
}
