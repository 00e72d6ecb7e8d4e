package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestZZ(t *testing.T) {
	var b strings.Builder
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			fmt.Fprintf(&b, "%s\t%s\t%s\n", strings.TrimPrefix(c.CommandPath(), "bench "), f.Name, f.Usage)
		})
		for _, v := range c.Commands() {
			walk(v)
		}
	}
	walk(newRoot())
	os.WriteFile(os.Getenv("ZZ"), []byte(b.String()), 0o644)
}
