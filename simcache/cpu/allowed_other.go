//go:build !linux

package cpu

import "errors"

// allowed are unknown here.
func allowed() []int { return nil }

// RunOn leaves the goroutine where it is.
func RunOn(int) (undo func(), err error) { return func() {}, errors.ErrUnsupported }
