package check

import (
	"errors"
	"strconv"
	"strings"
)

// ParseShare reads a share such as "5%" or "0.05". It refuses 1, which may be meant as
// 1% and would let anything pass: that is 100%.
func ParseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0) || v >= 1 && !percent || v > 100 {
		return 0, errors.New("want a share such as 5% or 0.05 (less than 1 without %, which may " +
			"be up to 10000%)")
	}
	return v, nil
}
