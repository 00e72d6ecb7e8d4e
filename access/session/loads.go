package session

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/stridebench/stridebench/access/probe"
	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/keys"
	"github.com/stridebench/stridebench/simcache/machines"
)

// errNoLoads says that a machine's latency under load was not measured.
var errNoLoads = errors.New("no latency under load was measured (bench machine --measure " +
	"--loaded measures it)")

// WriteLoads writes a machine's latency under load as a file of results: a line for
// each sample, with the time of a load and the bytes a second that went over the
// memory meanwhile, under names such as
// Loaded/op=chase/size=256MiB/streams=3/load=25, in which load is the share of time, in
// percent, that the streams streamed. Bench report draws it.
func WriteLoads(out io.Writer, m probe.Machine, program Program) error {
	if len(m.Loads) == 0 || len(m.Ladder) == 0 {
		return errNoLoads
	}
	s, err := Plan{Count: 1, SampleTime: 1, Program: program, TimesOnly: true}.Prepare()
	if err != nil {
		return err
	}
	config, comments := s.head()
	w, err := results.NewWriter(out, config, comments)
	if err != nil {
		return err
	}
	lines := 0
	for _, l := range m.Loads {
		name := fmt.Sprintf("Loaded/op=chase/size=%s/streams=%d/load=%s",
			machines.Size(m.Ladder[len(m.Ladder)-1].Size), m.Streams,
			strconv.FormatFloat(100*l.Share, 'g', 6, 64))
		for i, ns := range l.Ns {
			if err := w.Write(name, 1, []results.Value{{Value: ns, Unit: "ns/op"},
				{Value: 1e9 * float64(l.Bandwidth[i]), Unit: "B/s"}}); err != nil {
				return err
			}
			lines++
		}
	}
	return w.Comment(fmt.Sprintf("%s: %d results", keys.End, lines))
}
