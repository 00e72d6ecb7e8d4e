package access

import (
	"fmt"

	"github.com/stridebench/stridebench/access/kernel"
)

// A Kernel is the name of what walks a pattern natively: Scalar, Builtin, or a set of package
// kernel such as "avx2".
type Kernel string

const (
	Scalar  Kernel = ""        // plain loops in the pattern's order, one element an iteration
	Builtin Kernel = "builtin" // Go's copy
)

// parseKernel reads what String writes; the empty text is Scalar.
func parseKernel(name string) (Kernel, error) {
	k := Kernel(name)
	if name == Scalar.String() {
		k = Scalar
	}
	if _, err := k.set(); err != nil {
		return Scalar, err
	}
	return k, nil
}

// String returns "scalar", "builtin", or the name of a set.
func (k Kernel) String() string {
	if k == Scalar {
		return "scalar"
	}
	return string(k)
}

// set returns the kernel's set, or nil for Scalar and Builtin.
func (k Kernel) set() (*kernel.Set, error) {
	if k == Scalar || k == Builtin {
		return nil, nil
	}
	set, err := kernel.ByName(string(k))
	if err != nil {
		return nil, fmt.Errorf("no such kernel (there are %v, %v, %s)", Scalar, Builtin,
			kernel.Names(kernel.All()))
	}
	return set, nil
}
