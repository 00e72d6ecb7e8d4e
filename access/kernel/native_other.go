//go:build !amd64

package kernel

// native has nothing: these CPUs run the portable kernels.
var native []*Set
