"""Runs our side of a comparison, and sums up both."""

import argparse
import copy
import os
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def parser(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=7, help="times that everything is run in turn (7)")
    parser.add_argument("--kernel", default="", help="kernel of ours (the best that this CPU runs); permute.py takes several, parted by commas")
    return parser


class Bench:
    """The program, built from this tree."""

    def __init__(self, kernel):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "bench")
        subprocess.run(["go", "build", "-o", self.path, "./cmd/bench"], cwd=ROOT, check=True)
        self.kernel = kernel or self.best()

    def with_kernel(self, kernel):
        """The same program, with another kernel."""
        other = copy.copy(self)
        other.kernel = kernel
        return other

    def best(self):
        listed = subprocess.run([self.path, "list", "--filter", ".name:Stream"], check=True, capture_output=True, text=True)
        kernels = {line.rsplit("/kernel=", 1)[1] for line in listed.stdout.split()}
        return max(kernels, key=["scalar", "builtin", "portable", "neon", "avx2", "avx512"].index)

    def rate(self, *flags):
        """The best of a few samples, in GB/s."""
        run = subprocess.run(
            [self.path, "run", "--count", "5", "--kernel", self.kernel, "--D1", "32768,8,64", "--LL", "8388608,16,64", *flags],
            check=True, capture_output=True, text=True)
        fields = [line.split() for line in run.stdout.splitlines() if line.startswith("Benchmark")]
        return max(float(f[f.index("B/s") - 1]) for f in fields) / 1e9


def bests(runs, rounds):
    """Runs all in turn, and returns the best rate of each; None is left out."""
    best = {}
    for _ in range(rounds):
        for name, run in runs.items():
            rate = run()
            if rate is not None:
                best[name] = max(best.get(name, 0), rate)
    return best
