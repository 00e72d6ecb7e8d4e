package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a terminal of so many columns: what is written to the
// second is read from the first.
func openTerminal(t *testing.T, columns int) (screen, terminal *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ,
			&unix.Winsize{Row: 24, Col: uint16(columns)})
	}
	if err == nil {
		terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number),
			os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return screen, terminal
}

// TestProgressOnTerminal: what takes a while shows on a terminal how far it is, and leaves nothing
// there once it is interrupted, by Ctrl-C, which the terminal echoes. It is interrupted when it has
// shown that.
func TestProgressOnTerminal(t *testing.T) {
	for _, test := range []struct {
		verb  string
		shown []string
		left  string // what the screen has after the last bar was taken off
	}{
		{"sim --shape 30000x30000 --preset amd-zen3 --passes 100",
			[]string{`(?m)^note: .* are looked up one by one, which takes about .*`,
				`simulating 30000x30000 +[0-9]`},
			`^bench: interrupted while simulating 30000x30000, and what was not finished is lost\r\n$`},
		{"run --shape 64x64 --count 1000000 --sample-time 1ms -o bar.txt",
			[]string{`taking 1000000 samples .*% [0-9hm]+s left`},
			`^(?s:(warning|note): .*)?bench: interrupted after [0-9]+ of 1000000 samples, which bar.txt keeps\r\n$`},
	} {
		screen, terminal := openTerminal(t, 80)
		dir := t.TempDir()
		s := started{Cmd: exec.Command("bench", strings.Fields(test.verb)...),
			ended: make(chan struct{})}
		s.Dir, s.Stdout, s.Stderr = dir, create(t, dir+"/out"), terminal
		s.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
		s.begin(t)
		terminal.Close() // the command has it
		text, shown := "", false
		for buffer := make([]byte, 4096); ; {
			n, err := screen.Read(buffer)
			if err != nil { // nobody has the terminal any more
				break
			}
			if text += string(buffer[:n]); !shown && all(text, test.shown) {
				shown = true
				if _, err := screen.WriteString("\x03"); err != nil {
					t.Fatal(err)
				}
			}
		}
		<-s.ended
		if !shown {
			t.Errorf("bench %s: %v, and did not show %q: %q", test.verb, s.ProcessState,
				test.shown, text)
			continue
		}
		if !strings.Contains(text, "^C") || !regexp.MustCompile(
			`[\r\n]\x1b\[[0-9]+A\x1b\[J[^\x1b]*$`).MatchString(text) {
			t.Errorf("bench %s clears its last bar from the middle of the line: %q", test.verb,
				text[max(0, len(text)-200):])
		}
		if left := text[strings.LastIndex(text,
			"\x1b[J")+len("\x1b[J"):]; !regexp.MustCompile(test.left).MatchString(left) {
			t.Errorf("bench %s leaves %q", test.verb, left)
		}
	}
}

// all tells whether a text has all of some patterns.
func all(text string, patterns []string) bool {
	for _, p := range patterns {
		if !regexp.MustCompile(p).MatchString(text) {
			return false
		}
	}
	return true
}

// TestTablesOnTerminal: no line of a table or of the words around it is wider than the
// terminal, but for a name or hash that is wider by itself. None only has spaces. Each verb is
// shown in 40 columns, and in more, at which its tables are wide.
func TestTablesOnTerminal(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "tables.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	tables := txtar.Parse(text)
	files := map[string]string{}
	for _, f := range tables.Files {
		files[f.Name] = string(f.Data)
	}
	for name, path := range map[string]string{
		"p.json.gz": "access/bill/testdata/before.json.gz",
		"zen.yaml":  "access/probe/testdata/zen4-vm-1.yaml",
		"old.txt":   "docs/example/old.txt", "new.txt": "docs/example/new.txt",
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", path))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	inFolder(t, files)
	for line := range strings.Lines(string(tables.Comment)) {
		verb, words, shown := strings.Cut(strings.TrimSpace(line), " | ")
		if !shown { // it has something to show later
			showOn(t, 80, verb)
			continue
		}
		columns := 80
		if name, _, _ := strings.Cut(verb, " "); name == "machine" || name == "history" ||
			name == "check" {
			columns = 60 // some of these fit 80
		}
		if !testing.Short() {
			checkTable(t, columns, verb, words)
		}
		checkTable(t, 40, verb, words)
	}
}

// showOn runs a command line with a terminal of so many columns as its stdout, and returns what
// is on the screen.
func showOn(t *testing.T, columns int, verb string) string {
	t.Helper()
	screen, terminal := openTerminal(t, columns)
	shown := make(chan string)
	go func() {
		text, _ := io.ReadAll(screen) // up to the error that nobody has the terminal any more
		shown <- string(text)
	}()
	var stderr strings.Builder
	if code := run(t.Context(), typed(verb), terminal, &stderr); code != 0 {
		t.Fatalf("bench %s: exit code %d: %s", verb, code, &stderr)
	}
	return strings.ReplaceAll(<-shown, "\r\n", "\n")
}

// checkTable checks that a screen has some words, and how wide its lines are.
func checkTable(t *testing.T, columns int, verb, words string) {
	t.Helper()
	text := showOn(t, columns, verb)
	if !strings.Contains(strings.Join(strings.Fields(text), " "), words) {
		t.Errorf("bench %s does not say %q: %q", verb, words, text)
	}
	for line := range strings.SplitSeq(text, "\n") {
		n, trimmed := utf8.RuneCountInString(line), strings.TrimSpace(line)
		if n > columns && strings.Contains(trimmed, " ") || line != "" && trimmed == "" {
			t.Errorf("bench %s: of %d columns, a line has %d: %q", verb, columns, n, line)
		}
	}
}

// TestDumbTerminal: what can only print, as TERM=dumb says, is not told to move.
func TestDumbTerminal(t *testing.T) {
	for term, moves := range map[string]bool{"dumb": false, "xterm": true} {
		screen, terminal := openTerminal(t, 80)
		cmd := exec.Command("bench", "run", "--shape", "64x64", "--count", "50", "--sample-time",
			"20ms", "--no-calibrate", "-o", filepath.Join(t.TempDir(), "x.txt"))
		cmd.Env = append(os.Environ(), "TERM="+term)
		cmd.Stdout, cmd.Stderr = terminal, terminal
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		terminal.Close() // the command has it
		var text bytes.Buffer
		_, _ = text.ReadFrom(screen) // up to the error that nobody has the terminal any more
		if err := cmd.Wait(); err != nil || !strings.Contains(text.String(), "ns/elem") ||
			strings.Contains(text.String(), "\x1b") != moves {
			t.Errorf("TERM=%s: %v, %q", term, err, text.String())
		}
	}
}
