package main

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/layouts"
)

// helpTexts are what --help says of each verb, such as help/history-add.txt: what
// it does, and after a line of dashes examples.
//
//go:embed help/*.txt
var helpTexts embed.FS

// addHelp gives a command and all below it their texts.
func addHelp(cmd *cobra.Command) error {
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	text, err := helpTexts.ReadFile("help/" + strings.TrimPrefix(name, "bench-") + ".txt")
	if err != nil {
		return err
	}
	long, example, _ := strings.Cut(strings.TrimSuffix(string(text), "\n"), "\n---\n")
	cmd.Long = strings.ReplaceAll(long, "{{view-operations}}", strings.Join(layouts.ViewOps(), ", "))
	cmd.Example = example
	for _, verb := range cmd.Commands() {
		if err := addHelp(verb); err != nil {
			return err
		}
	}
	return nil
}
