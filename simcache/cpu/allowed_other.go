//go:build !linux

package cpu

import "errors"

// allowed returns nil: unknown on this system.
func allowed() []int { return nil }

// RunOn does nothing on this system.
func RunOn(int) (undo func(), err error) { return func() {}, errors.ErrUnsupported }
