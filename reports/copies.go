package reports

import (
	"fmt"

	"github.com/stridebench/stridebench/results"
)

// copyBandwidth draws the bandwidth of each copy.
func copyBandwidth(d *data) (*figure, error) {
	found := without(d.rows, func(r results.Row) bool {
		return r.Family() != "Copy" || !drawable(r.Stats[bandwidthUnit])
	})
	if len(found) == 0 {
		return nil, nil
	}
	d.shows(found...)
	f := &figure{title: "Copying to a contiguous tensor: bandwidth by source layout",
		sentence: moves(found), alt: "Bars: bandwidth of each copy"}
	b := bars{look: &d.look}
	b.add(found, gibPerSecond)
	if more := len(found) - b.drawn; more > 0 {
		f.sentence += fmt.Sprintf(" %d more are in the table.", more)
	}
	b.draw(f, "GiB/s, read plus written")
	return f, nil
}
