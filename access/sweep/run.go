package sweep

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/stridebench/stridebench/results"
	"github.com/stridebench/stridebench/results/keys"
	"github.com/stridebench/stridebench/results/outfile"
)

// blockSize is the number of consecutive points that belong to the same shard.
const blockSize = 16

// Options say how a sweep is run.
type Options struct {
	Index, Of int            // the shard, from 1; 1 of 1 is everything
	Comments  []results.Pair // in the head of the results
	// Start is called once with the number of points in the shard and in its record. Step is called
	// after each further point. Both may be nil.
	Start func(points, done int)
	Step  func()
}

// RecordName returns the name of the record for a results file.
func RecordName(out string) string { return out + ".part" }

var errThere = errors.New("it exists already: remove it to sweep again")

// A ShardError says that there are more shards than blocks, which are not split.
type ShardError struct{ Index, Of, Blocks int }

// Error says how many shards there may be.
func (e *ShardError) Error() string {
	if e.Blocks == 1 {
		return fmt.Sprintf("shard %d/%d: at most %d combinations are not split: want 1 shard",
			e.Index, e.Of, blockSize)
	}
	return fmt.Sprintf("shard %d/%d: there are %d blocks of at most %d combinations, which are "+
		"not split: want at most %[3]d shards", e.Index, e.Of, e.Blocks, blockSize)
}

func (o Options) mine(point int) bool { return (point/blockSize)%o.Of == o.Index-1 }

// Run simulates the shard's points that the record lacks, on all CPUs. Then it writes all results
// to out, in the order of the space, and removes the record. It stops when the context is
// cancelled, and can be killed at any time: the next run continues from the record. It returns the
// number of points that it added.
func (s *Space) Run(ctx context.Context, out string, o Options) (simulated int, err error) {
	if there, err := os.Stat(out); err == nil && there.IsDir() {
		return 0, errors.New("it is a directory: want a file")
	} else if err == nil && !there.Mode().IsRegular() {
		return 0, fmt.Errorf("it is not a regular file: want one, with %s for the finished "+
			"combinations", RecordName(filepath.Base(out)))
	} else if err == nil {
		return 0, errThere
	}
	if blocks := (s.points() + blockSize - 1) / blockSize; o.Of > blocks {
		return 0, &ShardError{o.Index, o.Of, blocks}
	}
	r, err := openRecord(RecordName(out), fmt.Sprintf("# sweep: %s shard %d/%d of %d points\n",
		s.hash(), o.Index, o.Of, s.points()), s.points())
	if err != nil {
		return 0, err
	}
	defer r.file.Close()
	var left []int
	points := 0
	for point := range s.points() {
		if !o.mine(point) {
			continue
		}
		points++
		if _, done := r.done[point]; !done {
			left = append(left, point)
		}
	}
	if o.Start != nil {
		o.Start(points, points-len(left))
	}
	s.sort(left)
	if simulated, err = s.simulateAll(ctx, r, left, o.Step); err != nil {
		return simulated, err
	}
	if err := r.file.Sync(); err != nil {
		return simulated, err
	}
	f, err := outfile.Create(out)
	if err != nil {
		return simulated, err
	}
	defer f.Discard()
	if err := s.write(f, r.done, o); err != nil {
		return simulated, err
	}
	if err := f.Commit(); err != nil {
		return simulated, err
	}
	return simulated, os.Remove(RecordName(out))
}

// simulateAll adds points to the record: a twin's count, an implied one, or a simulated one.
func (s *Space) simulateAll(ctx context.Context, r *record, left []int, step func()) (simulated int,
	err error) {
	var guard sync.Mutex
	next := func() (point int, c count, known, more bool) {
		guard.Lock()
		defer guard.Unlock()
		if len(left) == 0 {
			return 0, count{}, false, false
		}
		point, left = left[0], left[1:]
		if c, known = r.done[s.twin(point)]; !known {
			c, known = s.implied(point, r.done)
		}
		return point, c, known, true
	}
	add := func(point int, c count) error {
		guard.Lock()
		defer guard.Unlock()
		err := r.add(point, c)
		simulated++
		if step != nil && err == nil {
			step()
		}
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			for {
				point, c, known, more := next()
				if !more {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if !known {
					var err error
					if c, err = s.simulate(ctx, point); err != nil {
						return fmt.Errorf("%s: %w", s.name(point), err)
					}
				}
				if err := add(point, c); err != nil {
					return err
				}
			}
		})
	}
	err = group.Wait()
	return simulated, err
}

func (s *Space) write(to io.Writer, done map[int]count, o Options) error {
	out := bufio.NewWriterSize(to, 1<<20)
	comments := append(o.Comments, results.Pair{Key: keys.Suite, Value: s.hash()})
	if o.Of > 1 {
		comments = append(comments, results.Pair{Key: keys.Shard,
			Value: fmt.Sprintf("%d/%d", o.Index, o.Of)})
	}
	var config []results.Pair
	if named := s.named(); named != "" {
		config = []results.Pair{{Key: keys.Swept, Value: named}}
	}
	w, err := results.NewWriter(out, config, comments)
	if err != nil {
		return err
	}
	n := 0
	for point := range s.points() {
		if !o.mine(point) {
			continue
		}
		if o.Of > 1 && point%blockSize == 0 {
			if err := w.Comment(fmt.Sprintf("%s: %d", keys.Part,
				point/blockSize+1)); err != nil {
				return err
			}
		}
		c := done[point]
		n++
		if err := w.Write(s.name(point), 1, []results.Value{{Value: float64(c.refs),
			Unit: "D-refs/op"}, {Value: float64(c.d1), Unit: "D1-misses/op"},
			{Value: float64(c.ll), Unit: "LL-misses/op"}}); err != nil {
			return err
		}
	}
	return errors.Join(w.Comment(fmt.Sprintf("%s: %d results", keys.End, n)), out.Flush())
}
