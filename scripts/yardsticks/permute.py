"""Compares permuted copies with HPTT, memcpy and PyTorch's contiguous(), on one thread."""

import functools
import math
import os
import subprocess
import tempfile
import time

import ours

try:
    import torch
except ImportError:
    torch = None

CASES = [  # name, shape, order of dims
    ("transposed 1024x1024", (1024, 1024), (1, 0)),
    ("transposed 4000x4000", (4000, 4000), (1, 0)),
    ("transposed 4096x4096", (4096, 4096), (1, 0)),
    ("256x256x256 by (2,1,0)", (256, 256, 256), (2, 1, 0)),
    ("NCHW to NHWC", (32, 64, 56, 56), (0, 2, 3, 1)),
    ("NHWC to NCHW", (32, 56, 56, 64), (0, 3, 1, 2)),
    ("3 channels to NHWC", (32, 3, 224, 224), (0, 2, 3, 1)),
    ("3 channels to NCHW", (32, 224, 224, 3), (0, 3, 1, 2)),
]

DIMS = [  # permutations of 3 to 5 dims
    ("200x300x280 by (1,2,0)", (200, 300, 280), (1, 2, 0)),
    ("128x130x1000 by (0,2,1)", (128, 130, 1000), (0, 2, 1)),
    ("64x48x72x80 by (0,3,2,1)", (64, 48, 72, 80), (0, 3, 2, 1)),
    ("64x48x72x80 by (3,1,0,2)", (64, 48, 72, 80), (3, 1, 0, 2)),
    ("48x32x32x16x16 by (4,2,0,3,1)", (48, 32, 32, 16, 16), (4, 2, 0, 3, 1)),
    ("40x36x28x24x20 by (4,2,0,3,1)", (40, 36, 28, 24, 20), (4, 2, 0, 3, 1)),
    ("32x32x32x32x16 by (4,3,2,1,0)", (32, 32, 32, 32, 16), (4, 3, 2, 1, 0)),
]

DTYPES = {1: "uint8", 2: "int16", 4: "float32", 8: "float64"}


class Server:
    """hptt.cpp, for one copy."""

    def __init__(self, program, size, shape, dims):
        self.process = subprocess.Popen(
            [program, str(size), ",".join(map(str, shape)), ",".join(map(str, dims))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def time(self, what):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def build(folder, hptt):
    """The program of hptt.cpp, with the HPTT that was built there."""
    program = os.path.join(folder, "hptt")
    subprocess.run(
        ["g++", "-O3", "-std=c++11", "-fopenmp", "-I", os.path.join(hptt, "include"), "-o", program,
         os.path.join(os.path.dirname(os.path.abspath(__file__)), "hptt.cpp"), os.path.join(hptt, "lib", "libhptt.a")], check=True)
    return program


def seconds(run):
    """The least of three, after one off the clock."""
    times = []
    for _ in range(4):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times[1:])


def compare(benches, program, name, size, shape, dims, rounds, least):
    """One line: ours by each kernel, and the others with the share of theirs that our best is."""
    count, times = size * math.prod(shape), 1
    while count * times < least:
        times *= 2
    if times > 1:
        name, count, shape = f"{name}, x{times}", count * times, (shape[0] * times,) + shape[1:]
    flags = ["--shape", "x".join(map(str, shape)), "--dtype", DTYPES[size], "--op", "copy", "--view", f"permute({','.join(map(str, dims))})"]
    runs = {bench.kernel: functools.partial(bench.rate, "--times-only", *flags) for bench in benches}
    if program:
        server = Server(program, size, shape, dims)
        if size >= 4 and min(shape) > 3:  # of 3 channels, its plans return at once and copy nothing
            runs["HPTT"] = lambda: 2 * count / server.time("h")
        runs["memcpy"] = lambda: 2 * count / server.time("m")
    if torch:
        x = torch.ones(shape, dtype=getattr(torch, DTYPES[size])).permute(dims)
        y = torch.empty(x.shape, dtype=x.dtype)  # as contiguous() does, without the first touch of new memory
        runs["torch"] = lambda: 2 * count / seconds(lambda: y.copy_(x)) / 1e9
    best = ours.bests(runs, rounds)
    if program:
        server.end()
    ours_best = max(best[bench.kernel] for bench in benches)
    line = f"{name:36}{size:2} B" + "".join(f"{best[bench.kernel]:12.1f}" for bench in benches)
    for other in ("HPTT", "memcpy", "torch"):
        line += f"{best[other]:8.1f} {ours_best / best[other]:5.2f}" if other in best else " " * 14
    print(line, flush=True)


def main():
    parser = ours.parser(__doc__)
    parser.add_argument("--hptt", default="", help="folder of HPTT (github.com/springer13/hptt), built there by 'make avx'")
    parser.add_argument("--only", default="", help="rows whose names have this in them (all)")
    parser.add_argument("--bytes", default="1,2,4,8", help="of an element, parted by commas (1,2,4,8)")
    parser.add_argument("--least", type=int, default=0, help="MiB that each copy writes at least: the first dim of smaller ones is doubled until it does (0)")
    args = parser.parse_args()
    bench = ours.Bench(args.kernel.split(",")[0])
    benches = [bench] + [bench.with_kernel(k) for k in args.kernel.split(",")[1:]]
    if torch:
        torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder, args.hptt) if args.hptt else None
        print(f"GB/s, and the share of theirs that our best is; one thread, best of {args.rounds} turns")
        print(f"{'':40}" + "".join(f"{b.kernel:>12}" for b in benches) + f"{'HPTT':>8}{'':6}{'memcpy':>8}{'':6}{'torch':>8}")
        for size in map(int, args.bytes.split(",")):
            for name, shape, dims in CASES + DIMS:
                if args.only in name:
                    compare(benches, program, name, size, shape, dims, args.rounds, args.least << 20)


main()
