package access

import (
	"fmt"

	"github.com/stridebench/stridebench/access/kernel"
)

// A Kernel walks a pattern natively. The zero Kernel is Scalar. Kernels can be compared with ==.
type Kernel struct {
	set     *kernel.Set
	builtin bool
}

// The kernels that are not sets of package kernel.
var (
	Scalar  = Kernel{}              // plain loops in the pattern's order, one element an iteration
	Builtin = Kernel{builtin: true} // Go's copy
)

// VectorKernel returns the kernel of a set of package kernel.
func VectorKernel(set *kernel.Set) Kernel { return Kernel{set: set} }

// VectorKernels returns the sets of package kernel that this CPU runs, the best one last.
func VectorKernels() []Kernel {
	var all []Kernel
	for _, set := range kernel.Sets() {
		all = append(all, VectorKernel(set))
	}
	return all
}

// ParseKernel reads what String writes; the empty text is Scalar.
func ParseKernel(name string) (Kernel, error) {
	switch name {
	case "", Scalar.String():
		return Scalar, nil
	case Builtin.String():
		return Builtin, nil
	}
	set, err := kernel.ByName(name)
	if err != nil {
		return Kernel{}, fmt.Errorf("no such kernel (there are %v, %v, %s)", Scalar, Builtin,
			kernel.Names(kernel.All()))
	}
	return VectorKernel(set), nil
}

// Own reports whether the kernel may walk the spec as no other kernel does. Some sets of package
// kernel differ in some copies only.
func (k Kernel) Own(s Spec) bool {
	return k.set == nil || k.set.Own(s.DType.Size()) &&
		(s.Op == Copy || s.Op == Reorder || k.set.Own(0))
}

// String returns "scalar", "builtin", or the name of a set such as "avx2".
func (k Kernel) String() string {
	switch {
	case k.set != nil:
		return k.set.Name()
	case k.builtin:
		return "builtin"
	}
	return "scalar"
}
