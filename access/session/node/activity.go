package node

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Moment holds the CPU time so far, in ticks of 10 ms (proc(5): USER_HZ, 100 for all programs).
// It is empty outside Linux.
type Moment struct {
	at   time.Time
	cpus map[int]ticks
	own  int // this process and the children that it waited for
}

type ticks struct{ busy, steal int }

// Now reads /proc/stat and /proc/self/stat.
func Now() Moment {
	m := Moment{at: time.Now()}
	if f, err := os.Open("/proc/stat"); err == nil {
		defer f.Close()
		m.cpus = parseStat(f)
	}
	if text, err := os.ReadFile("/proc/self/stat"); err == nil {
		m.own = parseOwn(string(text))
	}
	return m
}

// parseStat reads lines "cpu0 user nice system idle iowait irq softirq steal ..." of /proc/stat.
// User includes guests; old kernels have fewer columns.
func parseStat(r io.Reader) map[int]ticks {
	cpus := map[int]ticks{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 5 || !strings.HasPrefix(fields[0], "cpu") {
			continue
		}
		number, err := strconv.Atoi(fields[0][3:])
		if err != nil { // all CPUs
			continue
		}
		var t ticks
		for i, field := range fields[1:min(len(fields), 9)] {
			n, err := strconv.Atoi(field)
			if err != nil {
				break
			}
			switch i {
			case 3, 4: // idle, iowait
			case 7:
				t.steal += n
			default:
				t.busy += n
			}
		}
		cpus[number] = t
	}
	return cpus
}

// parseOwn sums utime, stime, cutime and cstime of /proc/self/stat. The program's name may hold
// spaces and parentheses.
func parseOwn(text string) (sum int) {
	fields := strings.Fields(text[strings.LastIndex(text, ")")+1:])
	if len(fields) < 15 {
		return 0
	}
	for _, field := range fields[11:15] {
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0
		}
		sum += n
	}
	return sum
}

// An Activity is what the CPUs did during a run.
type Activity struct {
	CPUs   int     // of the machine
	Others float64 // CPUs that programs other than this kept busy, on average
	Steal  float64 // share of the CPU time asked for that the host took away
}

const tick = 10 * time.Millisecond

// Until returns the activity from m to end, unknown without ticks and below half a second, where
// one tick weighs too much.
func (m Moment) Until(end Moment) (a Activity, known bool) {
	wall := end.at.Sub(m.at)
	if len(end.cpus) == 0 || len(m.cpus) == 0 || wall < time.Second/2 {
		return a, false
	}
	var sum ticks
	for number, t := range end.cpus {
		before, known := m.cpus[number]
		if !known { // it came online during the run, and counts since the machine started
			continue
		}
		sum.busy += t.busy - before.busy
		sum.steal += t.steal - before.steal
	}
	a.CPUs = len(end.cpus)
	a.Others = max(0, float64(sum.busy-(end.own-m.own))*tick.Seconds()/wall.Seconds())
	if wanted := sum.busy + sum.steal; wanted > 0 {
		a.Steal = float64(sum.steal) / float64(wanted)
	}
	return a, true
}

func readGovernors(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(dir, "cpu[0-9]*", "cpufreq", "scaling_governor"))
	var names []string
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			names = append(names, strings.TrimSpace(string(text)))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// readTurbo returns "on", "off" or "". A driver has one of two files.
func readTurbo(dir string) string {
	for file, on := range map[string]string{"intel_pstate/no_turbo": "0", "cpufreq/boost": "1"} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			continue
		}
		if strings.TrimSpace(string(text)) == on {
			return "on"
		}
		return "off"
	}
	return ""
}

const cpuFolder = "/sys/devices/system/cpu"

func (m *Machine) setFrequency() {
	if runtime.GOOS == "linux" {
		m.Governors, m.Turbo = readGovernors(cpuFolder), readTurbo(cpuFolder)
	}
}
