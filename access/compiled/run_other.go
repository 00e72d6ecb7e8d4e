//go:build !linux

package compiled

import (
	"context"
	"errors"
)

// Run returns an error: programs run on Linux only.
func (p *Program) Run(context.Context, Options, Sink) (Outcome, error) {
	return Outcome{}, errors.New("programs are run and counted on Linux only")
}
