// Command fit fits the constants of the cost model (cost.Rules) to times that it measures, and
// prints the prediction errors. README.md shows how to use it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

const usage = `usage: go run ./scripts/fit [-data FOLDER] measure NAME | fit | check | without

  measure   time all patterns on this machine, of which FOLDER/NAME/machine.yaml is what
            'bench machine --measure -o FOLDER/NAME/machine.yaml' found; writes
            FOLDER/NAME/times.csv
  fit       fit the constants to the times of all machines in FOLDER, cross-validate, and
            write access/cost/fitted.json
  without   cross-validate without each constant and rule of the model, and write to
            FOLDER/without.csv what that changes
  check     say how far predictions are off these times, as the constants are
`

func main() {
	folder := flag.String("data", "scripts/fit/data", "")
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *folder, flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "fit: %v\n", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, folder string, args []string) error {
	switch verb := strings.Join(args[:min(1, len(args))], ""); {
	case verb == "measure" && len(args) == 2:
		return measure(ctx, filepath.Join(folder, args[1]))
	case len(args) == 1 && (verb == "fit" || verb == "check" || verb == "without"):
		d, err := read(folder)
		if err != nil {
			return err
		}
		if args[0] == "check" {
			d.print(nil)
			return nil
		}
		if args[0] == "without" {
			return without(d, folder)
		}
		return fit(d)
	}
	flag.Usage()
	return fmt.Errorf("%q: want measure NAME, fit, check or without", args)
}
