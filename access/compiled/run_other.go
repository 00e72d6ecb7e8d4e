//go:build !linux

package compiled

import (
	"context"
	"errors"
)

// Run refuses: programs are run on Linux only.
func (p *Program) Run(context.Context, Options, Sink) (Outcome, error) {
	return Outcome{}, errors.New("programs are run and counted on Linux only")
}
