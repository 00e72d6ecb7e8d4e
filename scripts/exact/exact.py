#!/usr/bin/env python3
"""Measures how long bench sim takes to count the kernels of PolyBench at LARGE, and
writes docs/exact.csv with it: seconds of CPU of whole processes, the least of some
runs, which are interleaved. What others took stays as it is in the file."""

import argparse
import csv
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEVEL = "  - {name: %s, size: %s, ways: %d, line: 64}\n"
ONE = "levels:\n" + LEVEL % ("L1", "32KiB", 8)
TWO = ONE + LEVEL % ("L2", "1MiB", 16)


def count(bench, kernel, config, *flags):
    """Runs bench sim, and returns its counts and its seconds of CPU."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [bench, "sim", "--program", str(ROOT / f"access/csource/testdata/polybench/{kernel}.c"), "--config", config, "--json", *flags],
        capture_output=True, text=True, env={**os.environ, "GOMAXPROCS": "1"}, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(done.stdout), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench", help="the program")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--two", action="store_true", help="two levels as well")
    parser.add_argument("--brute", action="store_true", help="every access as well, once: half an hour")
    parser.add_argument("--kernels", help="only these, joined by commas")
    args = parser.parse_args()
    file = ROOT / "docs/exact.csv"
    rows = list(csv.DictReader(file.open()))
    wanted = args.kernels.split(",") if args.kernels else [r["kernel"] for r in rows]
    with tempfile.TemporaryDirectory() as folder:
        configs = {}
        for column, text in (("ours_s", ONE), ("ours_two_levels_s", TWO)):
            configs[column] = os.path.join(folder, column + ".yaml")
            pathlib.Path(configs[column]).write_text(text)
        if not args.two:
            del configs["ours_two_levels_s"]
        seconds = {}
        for run in range(args.runs):
            for row in rows:
                if row["kernel"] not in wanted:
                    continue
                for column, config in configs.items():
                    counts, took = count(args.bench, row["kernel"], config)
                    seconds.setdefault((row["kernel"], column), []).append(took)
                    level = counts["levels"][0]
                    row["references"] = counts["counts"]["Dr"] + counts["counts"]["Dw"]
                    row["misses"] = level["readMisses"] + level["writeMisses"]
        for row in rows:
            for column in configs:
                if (row["kernel"], column) in seconds:
                    row[column] = f"{min(seconds[row['kernel'], column]):.2f}"
            if args.brute and row["kernel"] in wanted:
                counts, took = count(args.bench, row["kernel"], configs["ours_s"], "--exact", "brute")
                level = counts["levels"][0]
                if level["readMisses"] + level["writeMisses"] != row["misses"]:
                    sys.exit(f"{row['kernel']}: {level}, not {row['misses']} misses")
                row["brute_s"] = f"{took:.2f}" if took < 1 else f"{took:.1f}"
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


main()
