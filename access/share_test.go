package access

import (
	"testing"
	"unsafe"
)

// TestMemory: measurements that follow each other are lent the same pages, of any size up to
// the largest; more is mapped anew, as is what asks for other nodes, and what has threads that
// are to touch their own is lent none of it.
func TestMemory(t *testing.T) {
	var m Memory
	defer m.Close()
	at := func(size int, apart bool, o Options) uintptr {
		mem, free, err := m.lend(size, apart, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(mem) != size || cap(mem) != size {
			t.Errorf("%d B, and %d behind them, want %d", len(mem), cap(mem)-len(mem), size)
		}
		for i := range mem {
			mem[i]++
		}
		if err := free(); err != nil {
			t.Error(err)
		}
		return uintptr(unsafe.Pointer(&mem[0]))
	}
	first := at(3<<20, false, Options{})
	kept := &m.mem[0]
	if same := at(1<<20, false, Options{}); same != first {
		t.Errorf("the second is lent %#x, the first %#x", same, first)
	}
	if other := at(1<<20, true, Options{}); other == first {
		t.Errorf("%#x is lent to threads", other)
	}
	if &m.mem[0] != kept || *kept != 2 {
		t.Errorf("what was lent is gone, or was lent %d times", *kept)
	}
	at(8<<20, false, Options{})
	if len(m.mem) != 8<<20 {
		t.Errorf("%d B are kept, want the largest", len(m.mem))
	}
	m.nodes = []int{0}
	if at(1<<20, false, Options{}); len(m.mem) != 1<<20 || m.nodes != nil {
		t.Errorf("%d B of the nodes %d are lent for any", len(m.mem), m.nodes)
	}
	m.Close()
	if m.mem != nil || m.free != nil {
		t.Errorf("%d B are kept", len(m.mem))
	}
}
