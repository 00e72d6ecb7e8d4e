"""Compares sums and copies of runs with likwid-bench, mbw and STREAM's copy."""

import os
import re
import shutil
import subprocess
import tempfile

import ours

SIZES = [16 << 10, 512 << 10, 1536 << 10, 256 << 20]  # of all operands together

STREAM = r"""
/* STREAM's copy: c[j] = a[j]. Arguments: bytes of both arrays, repetitions. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv) {
  size_t n = strtoul(argv[1], 0, 10) / 2 / sizeof(double), times = strtoul(argv[2], 0, 10);
  double *a = aligned_alloc(4096, n * sizeof(double)), *c = aligned_alloc(4096, n * sizeof(double));
  struct timespec s, e;
  for (size_t j = 0; j < n; j++) { a[j] = 1; c[j] = 2; }
  clock_gettime(CLOCK_MONOTONIC, &s);
  for (size_t k = 0; k < times; k++) {
    for (size_t j = 0; j < n; j++) c[j] = a[j];
    __asm__ volatile("" ::: "memory");
  }
  clock_gettime(CLOCK_MONOTONIC, &e);
  printf("%f\n", 2.0 * n * sizeof(double) * times / ((e.tv_sec - s.tv_sec) * 1e9 + (e.tv_nsec - s.tv_nsec)));
  return c[n / 2] != 1;
}
"""


def cpu_has(flag):
    with open("/proc/cpuinfo") as f:
        return flag in f.read().split()


def likwid(test, size):
    """One likwid-bench test, in GB/s."""
    def run():
        times = max(1, (1 << 30) // size)
        out = subprocess.run(["likwid-bench", "-t", test, "-w", f"N:{size // 1000}kB:1", "-i", str(times)], capture_output=True, text=True)
        found = re.search(r"MByte/s:\s*([0-9.]+)", out.stdout)
        return float(found[1]) / 1e3 if found else None
    return run


def mbw(mode, size):
    """mbw counts the bytes copied once; they are read and written."""
    def run():
        out = subprocess.run(["mbw", "-q", "-n", "1", f"-t{mode}", str(size >> 21)], capture_output=True, text=True)
        found = re.search(r"Copy:\s*([0-9.]+) MiB/s", out.stdout)
        return 2 * float(found[1]) * (1 << 20) / 1e9 if found else None
    return run


def stream(folder):
    source, program = os.path.join(folder, "copy.c"), os.path.join(folder, "copy")
    with open(source, "w") as f:
        f.write(STREAM)
    # Without -fno-..., gcc would call memcpy, which is another yardstick.
    subprocess.run(["gcc", "-O3", "-march=native", "-fno-tree-loop-distribute-patterns", "-o", program, source], check=True)

    def at(size):
        def run():
            return float(subprocess.run([program, str(size), str(max(1, (1 << 30) // size))], check=True, capture_output=True, text=True).stdout)
        return run
    return at


def main():
    args = ours.parser(__doc__).parse_args()
    bench = ours.Bench(args.kernel)
    variants = ["", "_sse"] + [s for s, flag in (("_avx", "avx"), ("_avx512", "avx512f")) if cpu_has(flag)]
    with tempfile.TemporaryDirectory() as folder:
        loop = stream(folder) if shutil.which("gcc") else None
        print(f"{'':24}{'ours':>8}{'best':>8}  ratio  (GB/s, one thread, best of {args.rounds}; kernel {bench.kernel})")
        for size in SIZES:
            for op in ("read", "copy"):
                elements = size // 4 if op == "read" else size // 8
                runs = {"ours": lambda: bench.rate("--times-only", "--shape", str(elements), "--dtype", "int32", "--op", "sum" if op == "read" else "copy")}
                if shutil.which("likwid-bench"):
                    for test in (["load"] if op == "read" else ["copy", "copy_mem"]):
                        for v in variants:
                            runs["likwid " + test + v] = likwid(test + v, size)
                if op == "copy" and loop:
                    runs["STREAM"] = loop(size)
                if op == "copy" and shutil.which("mbw") and size >= 1 << 26:
                    runs["mbw memcpy"], runs["mbw dumb"] = mbw(0, size), mbw(1, size)
                best = ours.bests(runs, args.rounds)
                mine = best.pop("ours")
                if not best:
                    print(f"{op} {size >> 10} KiB: {mine:.1f}, no yardstick is installed")
                    continue
                name = max(best, key=best.get)
                print(f"{op + ' ' + str(size >> 10) + ' KiB':24}{mine:8.1f}{best[name]:8.1f}  {mine / best[name]:.2f}   {name}", flush=True)


main()
