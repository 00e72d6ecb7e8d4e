// Command fit fits the constants of the cost model (cost.Rules) to times that it
// measures, and says how far predictions are off. README.md tells how to use it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

const usage = `usage: go run ./scripts/fit [-data FOLDER] measure | fit | check

  measure   time all patterns on this machine, of which FOLDER/machine.yaml is what
            'bench machine --measure -o FOLDER/machine.yaml' found; writes FOLDER/times.csv
  fit       fit the constants to these times, cross-validate, and write access/cost/fitted.json
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
	if len(args) != 1 {
		flag.Usage()
		return fmt.Errorf("want one of measure, fit, check")
	}
	switch args[0] {
	case "measure":
		return measure(ctx, folder)
	case "fit", "check":
		d, err := read(folder)
		if err != nil {
			return err
		}
		if args[0] == "check" {
			d.print(os.Stdout, nil)
			d.worst(os.Stdout)
			return nil
		}
		return fit(d)
	}
	return fmt.Errorf("%q: want measure, fit or check", args[0])
}
