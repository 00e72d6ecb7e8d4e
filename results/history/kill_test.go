//go:build unix

package history

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain makes the test's own program a writer: it adds entries from a number
// on, and prints the name of each when it is told that it is added.
func TestMain(m *testing.M) {
	if dir := os.Getenv("HISTORY_WRITER"); dir != "" {
		writer(dir)
	}
	os.Exit(m.Run())
}

func writer(dir string) {
	from, _ := strconv.Atoi(os.Getenv("HISTORY_FROM"))
	count, _ := strconv.Atoi(os.Getenv("HISTORY_COUNT"))
	if limit, err := strconv.Atoi(os.Getenv("HISTORY_LIMIT")); err == nil {
		// The kernel fails a write at that byte of a file.
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE,
			&syscall.Rlimit{Cur: uint64(limit), Max: uint64(limit)}); err != nil {
			panic(err)
		}
	}
	s := Open(dir)
	for i := from; i < from+count; i++ {
		e, _, err := s.Add("t.txt", run(float64(i)), "", time.Time{})
		if err != nil {
			os.Exit(3)
		}
		fmt.Println(e.File)
	}
	os.Exit(0)
}

func startWriter(t *testing.T, dir string, from, count, limit int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "HISTORY_WRITER="+dir,
		fmt.Sprintf("HISTORY_FROM=%d", from), fmt.Sprintf("HISTORY_COUNT=%d", count))
	if limit > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("HISTORY_LIMIT=%d", limit))
	}
	out := must(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// whole checks that every entry in the store is whole, and that those that
// were said to be added are there.
func whole(t *testing.T, s *Store, added map[string]bool) {
	t.Helper()
	entries, damaged, err := s.Entries()
	if err != nil || len(damaged) > 0 {
		t.Fatalf("%v, damaged: %v", err, damaged)
	}
	there := map[string]bool{}
	for _, e := range entries {
		there[e.File] = true
	}
	for name := range added {
		if !there[name] {
			t.Fatalf("%s was added and is lost", name)
		}
	}
}

// TestKilled kills a writer again and again, wherever it is, and lets writes of
// others fail at chosen bytes, as on a full disk.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	s, added := Open(dir), map[string]bool{}
	for k := range 6 {
		cmd, lines := startWriter(t, dir, 1000*k, 1000, 0)
		for range k % 4 {
			if lines.Scan() {
				added[lines.Text()] = true
			}
		}
		time.Sleep(time.Duration(k) * 311 * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // what it said before it died
			if strings.HasSuffix(lines.Text(), ".txt") {
				added[lines.Text()] = true
			}
		}
		_ = cmd.Wait()
		whole(t, s, added)
	}
	for _, limit := range []int{1, 100, 300} {
		cmd, _ := startWriter(t, dir, 100000+limit, 1, limit)
		if err := cmd.Wait(); err == nil {
			t.Errorf("a writer wrote more than %d bytes", limit)
		}
		whole(t, s, added)
	}
}

// TestKilledAtEveryByte leaves behind what a writer that is killed at any byte
// leaves: a part of an entry that is not renamed yet.
func TestKilledAtEveryByte(t *testing.T) {
	dir := t.TempDir()
	s := Open(dir)
	e := add(t, s, run(1))
	read(t, s, 1, 0)
	text := must(os.ReadFile(filepath.Join(dir, e.File)))
	for i := range text {
		temp := filepath.Join(dir, fmt.Sprintf(".%s.%d", e.File, i))
		err := os.WriteFile(temp, text[:i], 0o600)
		whole(t, s, map[string]bool{e.File: true})
		if err := errors.Join(err, os.Remove(temp)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWritersAtOnce: nothing is lost of what several processes add at once.
func TestWritersAtOnce(t *testing.T) {
	dir := t.TempDir()
	const writers, each = 2, 25
	var running []*exec.Cmd
	var outputs []*bufio.Scanner
	for w := range writers {
		cmd, lines := startWriter(t, dir, w*each, each, 0)
		running, outputs = append(running, cmd), append(outputs, lines)
	}
	for w, cmd := range running {
		for outputs[w].Scan() { // what it says fits a pipe
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	read(t, Open(dir), writers*each, 0)
}
