package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a terminal of 80 columns: what is written to the
// second is read from the first.
func openTerminal(t *testing.T) (screen, terminal *os.File) {
	t.Helper()
	return openTerminalOf(t, 80)
}

// openTerminalOf is openTerminal of so many columns.
func openTerminalOf(t *testing.T, columns uint16) (screen, terminal *os.File) {
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
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
	}
	if err == nil {
		terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return screen, terminal
}

// TestProgressOnTerminal: what takes a while shows on a terminal how far it is, and
// leaves nothing there once it is interrupted, by Ctrl-C, which the terminal echoes. It is interrupted when it has shown that.
func TestProgressOnTerminal(t *testing.T) {
	for _, test := range []struct {
		verb  string
		shown []string
		left  string // what the screen has after the last bar was taken off
	}{
		{"sim --shape 30000x30000 --preset amd-zen3 --passes 100",
			[]string{`(?m)^note: .* are looked up one by one, which takes about .*`, `simulating 30000x30000 +[0-9]`},
			`^bench: interrupted while simulating 30000x30000, nothing is kept\r\n$`},
		{"run --shape 64x64 --count 1000000 --sample-time 1ms -o bar.txt",
			[]string{`taking 1000000 samples .*% [0-9hm]+s left`},
			`^(?s:(warning|note): .*)?bench: interrupted after [0-9]+ of 1000000 samples, which bar.txt keeps\r\n$`},
	} {
		screen, terminal := openTerminal(t)
		dir := t.TempDir()
		s := started{Cmd: exec.Command("bench", strings.Fields(test.verb)...), ended: make(chan struct{})}
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
			t.Errorf("bench %s: %v, and did not show %q: %q", test.verb, s.ProcessState, test.shown, text)
			continue
		}
		if !strings.Contains(text, "^C") || !regexp.MustCompile(`[\r\n]\x1b\[[0-9]+A\x1b\[J[^\x1b]*$`).MatchString(text) {
			t.Errorf("bench %s clears its last bar from the middle of the line: %q", test.verb, text[max(0, len(text)-200):])
		}
		if left := text[strings.LastIndex(text, "\x1b[J")+len("\x1b[J"):]; !regexp.MustCompile(test.left).MatchString(left) {
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

// TestTablesOnTerminal: no line of a table or of the words around it is wider than the terminal, but for a name or hash that is
// wider by itself, and none is a line that only has spaces, however many columns there are.
func TestTablesOnTerminal(t *testing.T) {
	here := t.TempDir()
	read := func(path ...string) string {
		text, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	loops := "double a[64][64];\nvoid kernel(void) {\n\tfor (int i = 0; i < 64; i++)\n\t\tfor (int j = 0; j < 64; j++)\n\t\t\ta[j][i] = 0;\n}\n"
	for name, text := range map[string]string{"p.json.gz": read("access", "bill", "testdata", "before.json.gz"), "loops.c": loops,
		"zen.yaml": read("access", "probe", "testdata", "zen4-vm-1.yaml"), "old.txt": read("docs", "example", "old.txt"), "new.txt": read("docs", "example", "new.txt")} {
		if err := os.WriteFile(filepath.Join(here, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"old.txt", "new.txt"} {
		add := exec.Command("bench", "history", "add", file)
		add.Dir = here
		if said, err := add.CombinedOutput(); err != nil {
			t.Fatalf("bench history add %s: %v: %s", file, err, said)
		}
	}
	for verb, has := range map[string]string{
		"machine --D1 32768,8,64":   "counters:",
		"machine --caches zen.yaml": "serves up to",
		"machine --presets":         "AMD Ryzen 7 5800X, 32 KiB + 512 KiB + 32 MiB exclusive (a victim cache of L2)",
		"sim --preset list":         "Cachegrind's I1, D1 and LL in the row and column experiment",
		"history list":              "benchmarks",
		"history trend":             "changes found:",
		"history show Copy/layout=contiguous/shape=4096x4096/dtype=float32/kernel=scalar":                            "median",
		"check --baseline old.txt new.txt":                                                                           "The machine may explain differences",
		"advise --shape 256x256 --view t() --op copy --preset intel-skylake-server":                                  "TLB walks",
		"sim --shape 4000x4000 --dtype int32 --width 16 --passes 10 --order col":                                     "LL miss rate:",
		"sim --shape 512x512 --order col --explain --preset amd-zen3":                                                "What would help",
		"sim --shape 512x512 --order col --curve --preset amd-zen3":                                                  "cold misses",
		"sim --program loops.c --function kernel --explain --preset cachegrind-article":                              "statement",
		"import p.json.gz --preset amd-zen3":                                                                         "channels_last",
		"import --step p.json.gz --preset amd-zen3":                                                                  "calls in sequence take",
		"run --shape 64x64 --order row --order col --count 2 --sample-time 100us --no-calibrate --D1 32768,8,64":     "not saved",
		"run --shape 64x64 --view flip(0) --order row --order col --count 1 --sample-time 100us --no-calibrate -o t": "ratio",
	} {
		widths := []uint16{40, 80}
		if name, _, _ := strings.Cut(verb, " "); name == "machine" || name == "history" || name == "check" {
			widths = []uint16{40, 60} // some of these fit 80
		}
		for _, columns := range widths {
			screen, terminal := openTerminalOf(t, columns)
			cmd := exec.Command("bench", strings.Fields(verb)...)
			cmd.Dir, cmd.Stdout = here, terminal
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			terminal.Close() // the command has it
			var text bytes.Buffer
			_, _ = text.ReadFrom(screen) // up to the error that nobody has the terminal any more
			words := strings.Join(strings.Fields(text.String()), " ")
			if err := cmd.Wait(); err != nil || !strings.Contains(words, has) {
				t.Fatalf("bench %s: %v: %q", verb, err, text.String())
			}
			for line := range strings.SplitSeq(strings.ReplaceAll(text.String(), "\r\n", "\n"), "\n") {
				if n := utf8.RuneCountInString(line); n > int(columns) && strings.Contains(strings.TrimSpace(line), " ") || line != "" && strings.TrimSpace(line) == "" {
					t.Errorf("bench %s: of %d columns, a line has %d: %q", verb, columns, n, line)
				}
			}
		}
	}
}

// TestDumbTerminal: what can only print, as TERM=dumb says, is not told to move.
func TestDumbTerminal(t *testing.T) {
	for term, moves := range map[string]bool{"dumb": false, "xterm": true} {
		screen, terminal := openTerminalOf(t, 80)
		cmd := exec.Command("bench", "run", "--shape", "64x64", "--count", "40", "--sample-time", "20ms", "--no-calibrate", "-o", filepath.Join(t.TempDir(), "x.txt"))
		cmd.Env = append(os.Environ(), "TERM="+term)
		cmd.Stdout, cmd.Stderr = terminal, terminal
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		terminal.Close() // the command has it
		var text bytes.Buffer
		_, _ = text.ReadFrom(screen) // up to the error that nobody has the terminal any more
		if err := cmd.Wait(); err != nil || !strings.Contains(text.String(), "ns/elem") || strings.Contains(text.String(), "\x1b") != moves {
			t.Errorf("TERM=%s: %v, %q", term, err, text.String())
		}
	}
}
