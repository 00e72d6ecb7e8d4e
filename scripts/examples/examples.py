#!/usr/bin/env python3
"""Runs the examples of every help and page, and lists the CPU seconds of each, the longest first."""

import argparse
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What times by its nature takes as long as it is told to; what reads results has none here.
VERBS = {"sim", "advise", "layout", "list", "machine", "sweep"}
TIMES = ("--measure",)


def pages():
    """Yields each page with what of it may be examples: helps, and blocks of the README and the docs."""
    for path in sorted((ROOT / "cmd/bench/help").glob("*.txt")):
        yield path, path.read_text()
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        yield path, "\n".join(path.read_text().split("```")[1::2])


def commands():
    """Yields the examples with the first page that has each, as words after "bench"."""
    seen = set()
    for path, text in pages():
        for line in text.replace("\\\n", " ").splitlines():
            match = re.match(r"\s*(?:\$ )?(?:bin/)?bench (.*)", line)
            if not match or match[1] in seen:
                continue
            seen.add(match[1])
            try:
                words = shlex.split(match[1], comments=True)
            except ValueError:  # prose
                continue
            shell = any(w in {"|", ">", ">>", "<", "&&", "..."} for w in words)
            if words and words[0] in VERBS and not shell and not any(w in words for w in TIMES):
                yield path.relative_to(ROOT), words


def seconds(bench, words, folder, limit):
    """Returns the CPU seconds of a command, or None and why it has none."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run([bench, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return float("inf"), f"over {limit} s"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        return None, done.stderr.decode().strip().splitlines()[-1]
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, ""


def main():
    """Prints a line an example."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench", help="the program")
    parser.add_argument("--limit", type=float, default=60, help="seconds after which an example is stopped")
    parser.add_argument("--over", type=float, default=0, help="list those that take more seconds only")
    args = parser.parse_args()
    rows, failed = [], []
    with tempfile.TemporaryDirectory() as folder:
        for path, words in commands():
            took, why = seconds(os.path.abspath(args.bench), words, folder, args.limit)
            line = f"{path}: bench {shlex.join(words)}"
            if took is None:
                failed.append(f"not run: {line}: {why}")
            else:
                rows.append((took, line))
    for took, line in sorted(rows, reverse=True):
        if took > args.over:
            print(f"{took:6.2f} s  {line}")
    print("\n".join(failed), file=sys.stderr)
    print(f"{len(rows)} examples", file=sys.stderr)


if __name__ == "__main__":
    main()
