package history

import (
	"errors"
	"time"
)

// ParseTime reads a time such as "2026-11-21T07:14:35Z", or git's %ci. The default zone is UTC, the
// default hour the start of the day.
func ParseTime(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05 -0700",
		"2006-01-02T15:04:05", time.DateTime, "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, errors.New("want a time such as 2026-11-21T07:14:35Z, or a day such as " +
		"2026-11-21")
}
