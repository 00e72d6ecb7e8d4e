package strict_test

import (
	"fmt"

	"github.com/stridebench/stridebench/simcache/machines/strict"
)

// Read a file that somebody wrote by hand.
func Example() {
	var disk struct {
		Name string `yaml:"name"`
	}
	_, err := strict.Decode("disk.yaml", []byte("name: fast\n"), &disk)
	fmt.Println(disk.Name, err)
	_, err = strict.Decode("disk.yaml", []byte("name: fast\nsize: 3\n"), &disk)
	fmt.Println(err)
	// Output:
	// fast <nil>
	// disk.yaml:2:1: unknown field "size" (want one of name)
}
