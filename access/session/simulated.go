package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/keys"
	"github.com/stridebench/stridebench/results/show"
	"github.com/stridebench/stridebench/simcache"
	"github.com/stridebench/stridebench/simcache/machines"
)

// A Simulated has the counts of a C program's loops, a trace, or a sparse matrix.
type Simulated struct {
	Family  string         // the first part of the names: Program, Trace or Matrix
	Parts   []results.Pair // the others, which name the counted thing
	Config  simcache.Config
	Counts  simcache.Counts // of all references
	Walks   uint64          // misses of the last level of the TLB, if Config has one
	Arrays  []simcache.Line // by array, whose name is the Function; may be empty
	Program Program         // that counted
}

// Results returns a results file, see [results.Writer]: a line for the whole, and one of family
// Array for each array, all in exact units. It does not name the machine, which does not affect
// counts.
func (s Simulated) Results() ([]byte, error) {
	config, err := s.config()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := results.NewWriter(&b, config, []results.Pair{{Key: "version",
		Value: s.Program.Version}, {Key: "command", Value: s.Program.Command}})
	if err != nil {
		return nil, err
	}
	name := ""
	for _, p := range s.Parts {
		name += "/" + namePart(p.Key) + "=" + namePart(p.Value)
	}
	values := countValues(s.Counts)
	if len(s.Config.TLB) > 0 {
		values = append(values, results.Value{Value: float64(s.Walks), Unit: "TLB-misses/op"})
	}
	err = w.Write(s.Family+name, 1, values)
	for _, a := range s.Arrays {
		err = errors.Join(err, w.Write("Array"+name+"/array="+namePart(a.Function), 1,
			countValues(a.Counts)))
	}
	err = errors.Join(err, w.Comment(fmt.Sprintf("%s: %d results", keys.End,
		1+len(s.Arrays))))
	return b.Bytes(), err
}

// config returns what the counts depend on.
func (s Simulated) config() ([]results.Pair, error) {
	c := s.Config
	text, err := machines.Format[struct{}](machines.Machine{Config: simcache.Config{I1: c.I1,
		Levels: c.Levels}}, nil)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(text)
	levels := fmt.Sprintf("%d %s", len(c.Levels), hex.EncodeToString(hash[:])[:12])
	if c.WriteBacks {
		levels += " writebacks"
	}
	config := []results.Pair{{Key: keys.D1, Value: c.First().Geometry.String()},
		{Key: keys.LL, Value: c.Last().Geometry.String()},
		{Key: keys.Levels, Value: levels}}
	if len(c.TLB) > 0 {
		config = append(config, results.Pair{Key: keys.TLB, Value: simcache.FormatTLB(c.TLB)})
	}
	return config, nil
}

// namePart makes a text a part of a benchmark's name, without spaces and slashes.
func namePart(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r <= ' ' {
			return '_'
		}
		return r
	}, show.Printable(text))
}

func countValues(c simcache.Counts) []results.Value {
	return []results.Value{{Value: float64(c.Refs()), Unit: "D-refs/op"},
		{Value: float64(c.D1Misses()), Unit: "D1-misses/op"},
		{Value: float64(c.LLMisses()), Unit: "LL-misses/op"}}
}
