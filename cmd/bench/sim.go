package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/layouts"
	"github.com/stridebench/stridebench/simcache"
)

func newSim() *cobra.Command {
	var pattern patternFlags
	var geometry geometryFlags
	var order string
	var width, passes int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sim --shape SHAPE",
		Short: "Simulate the cache misses of one access pattern",
		Long: `sim walks one access pattern through a D1 and a last-level cache that start
cold, and prints what Cachegrind would count. No tensor is allocated and no
clock is read, so shapes may be larger than memory.

Tensors lie one after the other, each on the next multiple of 4096 B, the first
at 0x100000000. With --tile, all whole tiles are walked first, in the order of
--order, then what is left at the end of each dim.

View operations: ` + strings.Join(layouts.ViewOps(), ", ") + `.`,
		Example: `  # by rows and by columns, as in the articles
  bench sim --shape 4000x4000 --dtype int32 --width 16 --passes 10 --order row
  bench sim --shape 4000x4000 --dtype int32 --width 16 --passes 10 --order col

  # a transposed copy in tiles, on a machine with a 36 MiB last level
  bench sim --shape 4096x4096 --view 'transpose(0,1)' --op copy --tile 32x32 --LL 37748736,18,64

  # a row broadcast over a matrix
  bench sim --shape 4000x4000 --op add --with 1x4000

  # what is touched, loop by loop
  bench sim --shape 32x64x56x56 --view 'permute(0,2,3,1)' --op copy --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			spec, err := pattern.spec(order, width)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("width") && width <= 0 {
				return fmt.Errorf("--width %d: want a positive number of bytes", width)
			}
			if err := atLeast("passes", passes, 1); err != nil {
				return err
			}
			p, err := lower(spec)
			if err != nil {
				return err
			}
			settings := geometry.settings(simcache.Detect())
			counts, err := simulate(p, settings, passes)
			if err != nil {
				return err
			}
			if asJSON {
				return writeSimJSON(cmd.OutOrStdout(), p, settings, passes, counts)
			}
			_, err = io.WriteString(cmd.OutOrStdout(), counts.Summary())
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	pattern.add(flags)
	flags.StringVar(&order, "order", "row", orderUsage)
	flags.IntVar(&width, "width", 0, "bytes of one access; default the element; a wider one covers its neighbours along the storage's last dimension and steps over them")
	flags.IntVar(&passes, "passes", 1, "walks over the whole pattern")
	geometry.add(flags)
	flags.BoolVar(&asJSON, "json", false, "print counts, geometry and loops as JSON")
	return cmd
}

// simulate counts passes over a pattern from cold caches.
func simulate(p access.Pattern, s simcache.Settings, passes int) (simcache.Counts, error) {
	h, err := simcache.NewHierarchy(s.D1.Geometry, s.LL.Geometry)
	if err != nil {
		return simcache.Counts{}, err
	}
	for range passes {
		for _, n := range p.Nests {
			if err := h.Run(n); err != nil {
				return simcache.Counts{}, err
			}
		}
	}
	return h.Counts(), nil
}

type jsonSetting struct {
	Size   int             `json:"size"`
	Ways   int             `json:"ways"`
	Line   int             `json:"line"`
	Source simcache.Source `json:"source"`
}

func toJSONSetting(s simcache.Setting) jsonSetting {
	return jsonSetting{s.Size, s.Ways, s.Line, s.Source}
}

type jsonNest struct {
	Trips    []int         `json:"trips"`
	Operands []jsonOperand `json:"operands"`
}

type jsonOperand struct {
	Tensor  string `json:"tensor"`
	Kind    string `json:"kind"`
	Base    uint64 `json:"base"`
	Width   int    `json:"width"`
	Strides []int  `json:"strides"`
}

func writeSimJSON(w io.Writer, p access.Pattern, s simcache.Settings, passes int, counts simcache.Counts) error {
	nests := []jsonNest{}
	for _, n := range p.Nests {
		j := jsonNest{Trips: n.Trips}
		for _, op := range n.Operands {
			j.Operands = append(j.Operands, jsonOperand{op.Tensor, op.Kind.String(), op.Base, op.Width, op.Strides})
		}
		nests = append(nests, j)
	}
	return writeJSON(w, struct {
		Counts   simcache.Counts        `json:"counts"`
		Geometry map[string]jsonSetting `json:"geometry"`
		Passes   int                    `json:"passes"`
		Nests    []jsonNest             `json:"nests"`
	}{counts, map[string]jsonSetting{"D1": toJSONSetting(s.D1), "LL": toJSONSetting(s.LL)}, passes, nests})
}

func writeJSON(w io.Writer, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}
