#!/usr/bin/env python3
"""How far off are predicted times, by family and number of threads, and what each
thread more is predicted to gain? See README.md beside this file."""

import argparse
import bisect
import collections
import math
import statistics


def read(path):
    """Times, the prediction and elements of each benchmark of a file of results."""
    all = {}
    for line in open(path):
        words = line.split()
        if not line.startswith("Benchmark") or "predicted-ns/op" not in words:
            continue
        value = lambda unit: float(words[words.index(unit) - 1])
        times, _, _ = all.setdefault(words[0], ([], value("predicted-ns/op"), value("ns/op") / value("ns/elem")))
        times.append(value("ns/op"))
    return all


def split(name):
    """The name without its threads, and how many there are."""
    parts = name.split("/")
    threads = [int(p[len("threads="):]) for p in parts if p.startswith("threads=")]
    return "/".join(p for p in parts if not p.startswith("threads=")), (threads or [1])[0]


def ranks(values):
    """From 0 on, the least first; equal values share the mean of theirs."""
    order = sorted(values)
    return [(bisect.bisect_left(order, v) + bisect.bisect_right(order, v) - 1) / 2 for v in values]


def spearman(a, b):
    return statistics.correlation(ranks(a), ranks(b)) if len(a) > 2 else math.nan


def errors(ratios):
    off = sorted(abs(r - 1) for r in ratios)
    return f"{100 * statistics.median(off):.0f}% | {100 * off[int(.9 * len(off))]:.0f}%"


def families(rows):
    """Rows by the first part of their names, and all."""
    by = collections.defaultdict(list)
    for name, *values in rows:
        by[name.split("/")[0].removeprefix("Benchmark")].append(values)
        by["all"].append(values)
    return sorted(by.items(), key=lambda f: (f[0] == "all", f[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="results of bench run --threads 1,2")
    parser.add_argument("--median", action="store_true", help="of the samples; the least counts otherwise")
    args = parser.parse_args()
    time = statistics.median if args.median else min
    found = collections.defaultdict(dict)
    for name, (times, predicted, elems) in read(args.file).items():
        pattern, threads = split(name)
        found[pattern][threads] = (time(times) / elems, predicted / elems)
    most = max(t for of in found.values() for t in of)
    found = {pattern: of for pattern, of in found.items() if most in of and 1 in of}
    print("| patterns | threads | | median error | one in ten is off by more than | rank correlation by element | predicted by measured |")
    print("|:--|--:|--:|--:|--:|--:|--:|")
    for threads in sorted({t for of in found.values() for t in of}):
        for family, rows in families((p, *of[threads]) for p, of in found.items() if threads in of):
            ratios = [predicted / measured for measured, predicted in rows]
            print(f"| {family} | {threads} | {len(rows)} | {errors(ratios)} | {spearman(*zip(*rows)):.3f} | {statistics.geometric_mean(ratios):.2f} |")
    print()
    print(f"| gain by {most} threads | | median error | one in ten is off by more than | predicted by measured |")
    print("|:--|--:|--:|--:|--:|")
    gains = ((p, (of[1][1] / of[most][1]) / (of[1][0] / of[most][0])) for p, of in found.items())
    for family, rows in families(gains):
        ratios = [r for r, in rows]
        print(f"| {family} | {len(rows)} | {errors(ratios)} | {statistics.geometric_mean(ratios):.2f} |")


if __name__ == "__main__":
    main()
