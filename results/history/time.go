package history

import (
	"errors"
	"time"
)

// ParseTime reads the time of an entry, such as "2026-11-21T07:14:35Z", or as git writes it
// with %ci. Without a zone it is in UTC, and without an hour the day's begin.
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
