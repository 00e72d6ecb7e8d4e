package kernel

import (
	"os"

	"golang.org/x/sys/unix"
)

// guarded is memory of n bytes between two pages that nothing may touch.
func guarded(n int) []byte {
	page := os.Getpagesize()
	n = (n + page - 1) / page * page
	const rights, how = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_PRIVATE | unix.MAP_ANON
	mem, err := unix.Mmap(-1, 0, n+2*page, rights, how)
	if err != nil {
		panic(err)
	}
	for _, guard := range [][]byte{mem[:page], mem[n+page:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			panic(err)
		}
	}
	return mem[page:][:n]
}
