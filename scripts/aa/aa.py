#!/usr/bin/env python3
"""How often are two programs that do the same told apart, and two of which one
has a kernel that is 5% slower? See README.md beside this file."""

import argparse
import csv
import io
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# The kernel that is slowed: the plain sum of a run of elements reads the first
# twentieth of it twice. Every pattern that sums along its rows uses it; where a
# row is short, as a padded one may be, it costs more than 5%.
KERNEL = "access/kernel.go"
PLAIN = "func sumRun[T realNumber, A int64 | float64](run []T) A {"
PLANTED = """var planted float64

func sumRun[T realNumber, A int64 | float64](run []T) A {
	planted += float64(sumRunOnce[T, A](run[:len(run)/20]))
	return sumRunOnce[T, A](run)
}

func sumRunOnce[T realNumber, A int64 | float64](run []T) A {"""
AFFECTED = ".name:(Traverse OR Stream) -/order:col -/pad:16 /kernel:scalar"


def run(*command, cwd=ROOT, codes=(0,)):
    done = subprocess.run(command, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode not in codes:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()}")
    return done


def build(folder, name, tree=ROOT):
    path = os.path.join(folder, name)
    run("go", "build", "-o", path, "./cmd/bench", cwd=tree)
    return path


def build_planted(folder):
    """Builds HEAD with the slowed kernel, in a worktree that is removed after."""
    tree = os.path.join(folder, "planted-tree")
    run("git", "worktree", "add", "--detach", tree, "HEAD")
    try:
        path = os.path.join(tree, KERNEL)
        with open(path) as f:
            text = f.read()
        if text.count(PLAIN) != 1:
            sys.exit(f"{KERNEL}: the kernel to slow is not there: {PLAIN}")
        with open(path, "w") as f:
            f.write(text.replace(PLAIN, PLANTED))
        return build(folder, "bench-planted", tree)
    finally:
        run("git", "worktree", "remove", "--force", tree)


def by_turns(bench, other, folder, flags):
    old, new = os.path.join(folder, "old.txt"), os.path.join(folder, "new.txt")
    run(bench, "run", "--ab", other, "--ab-out", old, "-o", new, *flags)
    return old, new


def two_runs(bench, folder, flags):
    paths = []
    for name in "old.txt", "new.txt":
        paths.append(os.path.join(folder, name))
        run(bench, "run", "-o", paths[-1], *flags)
    return paths


def compare(old, new):
    """The rows of benchstat's comparison of times: name, change in % or None if
    it finds no difference at alpha 0.05."""
    text = run("go", "tool", "benchstat", "-alpha", "0.05", "-filter", ".unit:sec/op", "-format", "csv", old, new).stdout
    rows, compared = [], False
    for cells in csv.reader(io.StringIO(text)):
        if "vs base" in cells:
            compared, at = True, cells.index("vs base")
        elif compared and len(cells) > at and cells[0] and cells[0] != "geomean":
            change = cells[at].strip()
            rows.append((cells[0], None if change in ("~", "") else float(change.rstrip("%"))))
        elif not cells:
            compared = False
    if not rows:
        sys.exit(f"benchstat compares nothing of {old} and {new}:\n{text}")
    return rows


def regressions(bench, old, new, threshold):
    """How many times bench check finds worse."""
    out = run(bench, "check", "--baseline", old, new, "--threshold", threshold, codes=(0, 1)).stdout
    return sum(line.startswith("regression ") for line in out.splitlines())


def same(bench, folder, args):
    for what, take in (("two runs", lambda: two_runs(bench, folder, args.flags)), ("by turns (--ab)", lambda: by_turns(bench, bench, folder, args.flags))):
        rows, different, largest, alarms = 0, 0, (0.0, ""), 0
        for _ in range(args.rounds):
            old, new = take()
            for name, change in compare(old, new):
                rows += 1
                if change is not None:
                    different += 1
                    largest = max(largest, (abs(change), name))
            alarms += regressions(bench, old, new, "5%") > 0
        print(f"A/A, {what}, {args.rounds} times: benchstat calls {different} of {rows} rows different "
              f"({100 * different / rows:.1f}%), the largest by {largest[0]:.1f}% ({largest[1] or 'none'}); "
              f"bench check alarms {alarms} times", flush=True)


def planted(bench, folder, args):
    slow = build_planted(folder)
    found, wrong, checked = {}, 0, 0
    for _ in range(args.rounds):
        old, new = by_turns(slow, bench, folder, ["--filter", AFFECTED, *args.flags])
        for name, change in compare(old, new):
            found[name] = found.get(name, 0) + (change is not None and change > 0)
            wrong += change is not None and change < 0
        checked += regressions(bench, old, new, "2%") > 0
    for name, times in found.items():
        print(f"planted 5%: found {times} of {args.rounds} times in {name}")
    print(f"planted 5%, by turns, {args.rounds} times: found in {sum(found.values())} of {len(found) * args.rounds} rows, "
          f"called faster in {wrong}; bench check --threshold 2% says no {checked} times", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", choices=["same", "planted"])
    parser.add_argument("--rounds", type=int, default=10, help="how often (10)")
    parser.epilog = "What follows -- are flags of bench run, such as -- --quick --count 10."
    cut = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    args = parser.parse_args(sys.argv[1:cut])
    args.flags = sys.argv[cut + 1:]
    with tempfile.TemporaryDirectory() as folder:
        bench = build(folder, "bench")
        (same if args.study == "same" else planted)(bench, folder, args)


main()
