package probe

import (
	"errors"
	"io/fs"
	"testing"
)

// TestUnread: what cannot be read is told with what to do about it, which differs where the file is
// another user's.
func TestUnread(t *testing.T) {
	for err, want := range map[error]string{
		fs.ErrPermission: "the machine that was measured: open x: permission denied (it " +
			"is another user's: set HOME or XDG_CACHE_HOME to a folder that this one may read)",
		errors.New("no levels"): "the machine that was measured: open x: no levels (measure it " +
			"again with 'bench machine --measure', or remove the file)",
	} {
		if got := unread(&fs.PathError{Op: "open", Path: "x", Err: err}).Error(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
