package history

import (
	"errors"
	"time"
)

// ParseTime reads the time of an entry, such as "2026-11-21T07:14:35Z".
func ParseTime(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, errors.New("want a time such as 2026-11-21T07:14:35Z")
	}
	return at, nil
}
