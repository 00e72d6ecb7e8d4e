package results

import "io"

// Mute returns a writer that ignores errors. If results go to a file too, an error of stdout does
// not end the run.
func Mute(w io.Writer) io.Writer { return mute{w} }

type mute struct{ w io.Writer }

// Write implements io.Writer.
func (m mute) Write(text []byte) (int, error) {
	_, _ = m.w.Write(text)
	return len(text), nil
}
