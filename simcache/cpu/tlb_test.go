package cpu

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stridebench/stridebench/simcache"
)

type leaf struct{ leaf, sub uint32 }

// intel and amd are leaf 0 and the leaves given.
func intel(maxLeaf uint32, leaves map[leaf]registers) func(leaf, sub uint32) registers {
	return vendor(registers{maxLeaf, 0x756e6547, 0x6c65746e, 0x49656e69}, leaves)
}

func amd(leaves map[leaf]registers) func(leaf, sub uint32) registers {
	return vendor(registers{0x10, 0x68747541, 0x444d4163, 0x69746e65}, leaves)
}

func vendor(zero registers, leaves map[leaf]registers) func(leaf, sub uint32) registers {
	return func(l, sub uint32) registers {
		if l == 0 {
			return zero
		}
		return leaves[leaf{l, sub}]
	}
}

func TestDecodeTLB(t *testing.T) {
	for _, test := range []struct {
		name  string
		cpuid func(leaf, sub uint32) registers
		want  []array
	}{
		{"Core i5-6400 (Skylake), recorded", intel(0x16, map[leaf]registers{
			{2, 0}: {0x76036301, 0x00f0b6ff, 0, 0x00c30000},
		}), []array{
			{Level: 1, TLB: simcache.TLB{Entries: 64, Ways: 4, Page: page4K, Source: ofCPUID}},
			{Level: 2, TLB: simcache.TLB{Entries: 1536, Ways: 6, Page: page4K,
				Source: ofCPUID}},
			{Level: 1, TLB: simcache.TLB{Entries: 32, Ways: 4, Page: page2M, Source: ofCPUID}},
			{Level: 2, TLB: simcache.TLB{Entries: 1536, Ways: 6, Page: page2M,
				Source: ofCPUID}},
			{Level: 1, TLB: simcache.TLB{Entries: 4, Ways: 4, Page: page1G, Source: ofCPUID}},
			{Level: 2, TLB: simcache.TLB{Entries: 16, Ways: 4, Page: page1G, Source: ofCPUID}},
		}},
		{"EPYC (Milan, Zen 3), recorded", amd(map[leaf]registers{
			{0x80000000, 0}: {eax: 0x80000021},
			{0x80000005, 0}: {0xff40ff40, 0xff40ff40, 0x20080140, 0x20080140},
			{0x80000006, 0}: {0x48002200, 0x68004200, 0x02006140, 0x08009140},
		}), []array{
			{Level: 1, TLB: simcache.TLB{Entries: 64, Ways: 64, Page: page4K, Source: ofCPUID}},
			{Level: 2, TLB: simcache.TLB{Entries: 2048, Ways: 8, Page: page4K,
				Source: ofCPUID}},
			{Level: 1, TLB: simcache.TLB{Entries: 64, Ways: 64, Page: page2M, Source: ofCPUID}},
			{Level: 2, TLB: simcache.TLB{Entries: 2048, Ways: 4, Page: page2M,
				Source: ofCPUID}},
		}},
		{"leaf 18H: arrays for instructions and stores, a full one, two shared ones",
			intel(0x20, map[leaf]registers{
				{0x18, 0}: {eax: 8},
				{0x18, 1}: {ebx: 0x00080001, ecx: 0x20, edx: 0x4022},
				{0x18, 2}: {ebx: 0x00080006, ecx: 4, edx: 0x4022},
				{0x18, 3}: {ebx: 0x0010000f, ecx: 1, edx: 0x4125},
				{0x18, 4}: {ebx: 0x00040001, ecx: 0x10, edx: 0x4024},
				{0x18, 5}: {ebx: 0x00040006, ecx: 8, edx: 0x4024},
				{0x18, 6}: {ebx: 0x00080008, ecx: 1, edx: 0x4124},
				{0x18, 7}: {ebx: 0x00080007, ecx: 0x80, edx: 0x4043},
				{0x18, 8}: {ebx: 0x00080009, ecx: 0x80, edx: 0x4043},
			}), []array{
				{Level: 1, TLB: simcache.TLB{Entries: 64, Ways: 4, Page: page4K, Source: ofCPUID}},
				{Level: 2, TLB: simcache.TLB{Entries: 2048, Ways: 16, Page: page4K,
					Source: ofCPUID}},
				{Level: 1, TLB: simcache.TLB{Entries: 32, Ways: 4, Page: page2M, Source: ofCPUID}},
				{Level: 2, TLB: simcache.TLB{Entries: 1024, Ways: 8, Page: page2M,
					Source: ofCPUID}},
				{Level: 1, TLB: simcache.TLB{Entries: 8, Ways: 8, Page: page1G, Source: ofCPUID}},
				{Level: 2, TLB: simcache.TLB{Entries: 1024, Ways: 8, Page: page1G,
					Source: ofCPUID}},
			}},
		{"a register that tells nothing", intel(2,
			map[leaf]registers{{2, 0}: {0x80030301, 0x80000003, 0, 0}}), nil},
		{"a hypervisor that hides all", intel(0x20, nil), nil},
		{"another vendor", vendor(registers{eax: 0x20}, nil), nil},
	} {
		if diff := cmp.Diff(test.want, decodeTLB(test.cpuid)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestAMDWays(t *testing.T) {
	for _, test := range []struct {
		code          uint32
		entries, want int
	}{{0, 64, 0}, {1, 64, 1}, {4, 2048, 4}, {5, 1536, 6}, {6, 1536, 12}, {6, 2048, 8},
		{8, 2048, 16}, {0xF, 64, 64}, {9, 64, 0}, {6, 77, 11}, {6, 17, 0}} {
		if got := amdWays(test.code, test.entries); got != test.want {
			t.Errorf("code %#x of %d entries is %d-way, want %d", test.code, test.entries,
				got, test.want)
		}
	}
}

// TestTLB: whatever this CPU is, what is found can be simulated.
func TestTLB(t *testing.T) {
	for _, page := range []int{page4K, page2M, 16 << 10} {
		config := simcache.Config{TLB: TLB(page), Levels: simcache.TwoLevels(
			simcache.Geometry{Size: 1 << 15, Ways: 8, Line: 64},
			simcache.Geometry{Size: 1 << 20, Ways: 16, Line: 64})}
		if _, err := simcache.NewHierarchy(config); err != nil || len(config.TLB) == 0 {
			t.Errorf("%d B: %+v, %v", page, config.TLB, err)
		}
	}
	if got := chooseTLB(nil, page2M); got[0].Entries != 32 || got[1].Source != FromDefault {
		t.Errorf("default %+v", got)
	}
}
