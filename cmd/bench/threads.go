package main

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stridebench/stridebench/access"
	"github.com/stridebench/stridebench/access/session"
	"github.com/stridebench/stridebench/simcache/cpu"
)

type threadFlags struct {
	counts                parsed[[]int]
	pin, cpuBind, memBind parsed[[]int]
	grain                 int
}

func (f *threadFlags) add(flags *pflag.FlagSet) {
	f.counts = parsed[[]int]{parse: parseThreads, kind: "list"}
	flags.Var(&f.counts, "threads", "numbers of threads that share a benchmark, such as 1,2,all; "+
		"each is pinned to its own CPU, SMT siblings last; the slowest one's time counts; names "+
		"end with threads=N")
	flags.IntVar(&f.grain, "grain", access.GrainSize,
		"least number of elements for each thread, with --threads; the default is PyTorch's")
	for _, list := range []struct {
		flag        *parsed[[]int]
		name, usage string
	}{
		{&f.pin, "pin", "CPUs to pin threads to, in this order, such as 0-3,8 (Linux); default: " +
			"one of each core, from the last one on, and then SMT siblings"},
		{&f.cpuBind, "cpubind", "NUMA nodes to whose CPUs threads are pinned, such as 0 (Linux; " +
			"bench machine lists them)"},
		{&f.memBind, "membind", "NUMA nodes that the tensors' memory is taken from (Linux); " +
			"default: the node of the thread that first touches it"},
	} {
		*list.flag = parsed[[]int]{parse: cpu.ParseList, kind: "list"}
		flags.Var(list.flag, list.name, list.usage)
	}
}

// parseThreads reads numbers of threads, such as "1,2,4,all"; all is 0.
func parseThreads(text string) ([]int, error) {
	var counts []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if part == "all" {
			n, err = 0, nil
		} else if n < 1 {
			err = cmp.Or(err, strconv.ErrRange)
		}
		if err != nil {
			return nil, errors.New("want numbers from 1 on or all, such as 1,2,4,all")
		}
		counts = append(counts, n)
	}
	return counts, nil
}

func (f *threadFlags) among(c call, p session.Plan, ab string) (session.Plan, error) {
	switch {
	case ab != "" && (f.counts.set || f.pin.set || f.cpuBind.set || f.memBind.set):
		return p, errors.New("--ab interleaves programs, which take no --threads, --pin, " +
			"--cpubind or --membind: leave one of them out")
	case c.given("grain") && !f.counts.set:
		return p, errors.New("--grain goes with --threads, which is missing")
	}
	if err := positive("grain", f.grain); err != nil && c.given("grain") {
		return p, err
	}
	before := len(p.Remarks)
	p, err := p.Among(session.Threads{Counts: f.counts.value, Grain: f.grain, Pin: f.pin.value,
		CPUBind: f.cpuBind.value, MemBind: f.memBind.value})
	if err != nil {
		return p, atFlag(err)
	}
	for _, r := range p.Remarks[before:] {
		if r.Key == "threads" {
			c.note("threads: %s", r.Value)
		}
	}
	return p, nil
}
