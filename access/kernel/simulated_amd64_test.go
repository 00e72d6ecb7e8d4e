package kernel

import "slices"

func init() {
	for _, s := range []*Set{&avx2, &avx512} {
		if !slices.Contains(native, s) {
			simulated = append(simulated, s)
		}
	}
}
