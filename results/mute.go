package results

import "io"

// Mute returns a writer that ignores errors: an error of stdout must not end a run that also writes
// a file.
func Mute(w io.Writer) io.Writer { return mute{w} }

type mute struct{ w io.Writer }

// Write implements io.Writer.
func (m mute) Write(text []byte) (int, error) {
	_, _ = m.w.Write(text)
	return len(text), nil
}
