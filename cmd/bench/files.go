package main

import (
	"fmt"

	"github.com/stridebench/stridebench/results"
)

// createFile starts the file that a flag names.
func createFile(flag, path string) (*results.File, error) {
	file, err := results.Create(path)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	return file, nil
}

// writeFile writes the file that a flag names, whole or not at all.
func writeFile(flag, path string, data []byte) error {
	if err := results.WriteFile(path, data); err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return nil
}
