package cpu

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/stridebench/stridebench/simcache"
)

// dataTLBs returns the data TLBs for the system's pages (4 KiB; on arm64 also 16 or 64 KiB) and for
// 2 MiB.
func dataTLBs() [][]simcache.TLB { return [][]simcache.TLB{TLB(os.Getpagesize()), TLB(page2M)} }

// WriteTables writes tables of this CPU's caches and TLB, and of the simulation.
func WriteTables(w io.Writer, caches []Cache, simulated simcache.Config) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "cache\tsize\tways\tsets\tline\tshared by\tfrom")
	for _, c := range caches {
		if !c.Known() {
			fmt.Fprintf(t, "%s\tunknown\t\t\t\t%s\t%s\n", c.Name(), sharedBy(c.Shared), c.Source)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d B\t%s\t%s\n", c.Name(), simcache.Bytes(c.Geometry.Size),
			c.Geometry.Ways,
			c.Geometry.Sets(), c.Geometry.Line, sharedBy(c.Shared), c.Source)
	}
	fmt.Fprintln(t, "\ndata TLB\tentries\tways\tpage\treach\tfrom")
	for _, tlb := range dataTLBs() {
		for i, l := range tlb {
			fmt.Fprintf(t, "level %d\t%d\t%d\t%s\t%s\t%s\n", i+1, l.Entries, l.Ways,
				simcache.Bytes(l.Page), simcache.Bytes(l.Entries*l.Page), l.Source)
		}
	}
	fmt.Fprintln(t, "\nsimulated\tsize\tways\tsets\tline\tflag\tfrom")
	first, last := simulated.First(), simulated.Last()
	for _, n := range []struct {
		name   string
		g      simcache.Geometry
		source string
	}{{"I1", simulated.I1, simulated.I1Source}, {"D1", first.Geometry, first.Source},
		{"LL", last.Geometry, last.Source}} {
		g := n.g
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d B\t--%s %s\t%s\n", n.name, simcache.Bytes(g.Size),
			g.Ways, g.Sets(), g.Line, n.name, g, n.source)
	}
	return t.Flush()
}

// WriteNodes writes a table of the NUMA nodes, or nothing if there are none.
func WriteNodes(w io.Writer, nodes []Node) error {
	if len(nodes) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\nNUMA\tCPUs\tmemory")
	for _, n := range nodes {
		fmt.Fprintf(t, "\tto node %d", n.ID)
	}
	fmt.Fprintln(t)
	for _, n := range nodes {
		cpus, memory := "none", "none"
		if len(n.CPUs) > 0 {
			cpus = FormatList(n.CPUs)
		}
		if n.Memory > 0 {
			memory = simcache.Bytes(n.Memory)
		}
		fmt.Fprintf(t, "node %d\t%s\t%s", n.ID, cpus, memory)
		for i := range nodes {
			distance := "unknown"
			if i < len(n.Distances) {
				distance = fmt.Sprintf("%.1f", float64(n.Distances[i])/10)
			}
			fmt.Fprintf(t, "\t%s", distance)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

func sharedBy(cpus int) string {
	switch cpus {
	case 0:
		return "unknown"
	case 1:
		return "1 CPU"
	}
	return fmt.Sprintf("%d CPUs", cpus)
}

// jsonCache is the JSON of a cache; size, ways, sets and line are 0 if unknown (Cache.Known).
type jsonCache struct {
	Name   string `json:"name"`
	Level  int    `json:"level"`
	Type   string `json:"type"`
	Size   int    `json:"size"`
	Ways   int    `json:"ways"`
	Sets   int    `json:"sets"`
	Line   int    `json:"line"`
	Shared int    `json:"shared"`
	Source string `json:"source"`
}

// jsonTLB is the JSON of a level of a data TLB.
type jsonTLB struct {
	Level   int    `json:"level"`
	Entries int    `json:"entries"`
	Ways    int    `json:"ways"`
	Page    int    `json:"page"`
	Source  string `json:"source"`
}

// JSON returns the JSON of caches and of this CPU's TLB, [] if none.
func JSON(caches []Cache) ([]jsonCache, []jsonTLB) {
	list, pages := []jsonCache{}, []jsonTLB{}
	for _, c := range caches {
		g, sets := c.Geometry, 0
		if c.Known() {
			sets = g.Sets()
		}
		list = append(list, jsonCache{c.Name(), c.Level, c.Type, g.Size, g.Ways, sets, g.Line,
			c.Shared, c.Source})
	}
	for _, tlb := range dataTLBs() {
		for i, l := range tlb {
			pages = append(pages, jsonTLB{i + 1, l.Entries, l.Ways, l.Page, l.Source})
		}
	}
	return list, pages
}
