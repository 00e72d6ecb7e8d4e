package sweep

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// A record is the file that a sweep appends to: a head, and a line for each finished point, in any
// order. A killed program leaves at most one partial line, which is cut off on reopening.
type record struct {
	file *os.File
	done map[int]count
}

// openRecord opens or creates a record and locks it. The head identifies the sweep.
func openRecord(path, head string, points int) (*record, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	r := &record{file, map[int]count{}}
	if err := errors.Join(lock(file, path), r.read(path, head, points)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

func (r *record) read(path, head string, points int) error {
	text, err := io.ReadAll(r.file)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(text, []byte(head)) {
		if !strings.HasPrefix(head, string(text)) {
			return fmt.Errorf("%s: it is the record of another sweep, or shard: remove it, or "+
				"name another file", path)
		}
		text = nil // killed before the head was whole
	}
	whole := 0
	if text != nil {
		whole = len(head)
		for {
			line, _, ended := bytes.Cut(text[whole:], []byte("\n"))
			point, c, ok := parseLine(string(line))
			if _, again := r.done[point]; !ended || !ok || point >= points || again {
				break
			}
			r.done[point] = c
			whole += len(line) + 1
		}
	}
	if err := r.file.Truncate(int64(whole)); err != nil {
		return err
	}
	if _, err := r.file.Seek(int64(whole), io.SeekStart); err != nil {
		return err
	}
	if text == nil {
		_, err = r.file.WriteString(head)
	}
	return err
}

func (r *record) add(point int, c count) error {
	r.done[point] = c
	_, err := r.file.WriteString(line(point, c))
	return err
}

// line returns a point's number, its counts, and their sum, which reveals partial lines.
func line(point int, c count) string {
	return fmt.Sprintf("%d %d %d %d %d\n", point, c.refs, c.d1, c.ll,
		uint64(point)+c.refs+c.d1+c.ll)
}

func parseLine(text string) (point int, c count, ok bool) {
	var sum uint64
	_, err := fmt.Sscan(text, &point, &c.refs, &c.d1, &c.ll, &sum)
	return point, c, err == nil && point >= 0 && line(point, c) == text+"\n"
}
