"""Compares permuted copies with HPTT, memcpy and PyTorch's contiguous(), on one thread."""

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
]

DIMS = [  # permutations of 3 to 5 dims
    ("200x304x280 by (1,2,0)", (200, 304, 280), (1, 2, 0)),
    ("128x130x1000 by (0,2,1)", (128, 130, 1000), (0, 2, 1)),
    ("64x48x72x80 by (0,3,2,1)", (64, 48, 72, 80), (0, 3, 2, 1)),
    ("64x48x72x80 by (3,1,0,2)", (64, 48, 72, 80), (3, 1, 0, 2)),
    ("48x32x32x16x16 by (4,2,0,3,1)", (48, 32, 32, 16, 16), (4, 2, 0, 3, 1)),
    ("40x36x28x24x20 by (4,2,0,3,1)", (40, 36, 28, 24, 20), (4, 2, 0, 3, 1)),
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


def compare(bench, program, name, size, shape, dims, rounds):
    """One line: ours, and the ratio to each other."""
    count = size
    for n in shape:
        count *= n
    flags = ["--shape", "x".join(map(str, shape)), "--dtype", DTYPES[size], "--op", "copy", "--view", f"permute({','.join(map(str, dims))})"]
    runs = {"ours": lambda: bench.rate("--times-only", *flags)}
    if program:
        server = Server(program, size, shape, dims)
        if size >= 4:
            runs["HPTT"] = lambda: 2 * count / server.time("h")
        runs["memcpy"] = lambda: 2 * count / server.time("m")
    if torch:
        x = torch.ones(shape, dtype=getattr(torch, DTYPES[size])).permute(dims)
        y = torch.empty(x.shape, dtype=x.dtype)  # as contiguous() does, without the first touch of new memory
        runs["torch"] = lambda: 2 * count / seconds(lambda: y.copy_(x)) / 1e9
    best = ours.bests(runs, rounds)
    if program:
        server.end()
    line = f"{name:32}{size:2} B{best['ours']:8.1f}"
    for other in ("HPTT", "memcpy", "torch"):
        line += f"{best[other]:8.1f} {best['ours'] / best[other]:5.2f}" if other in best else " " * 14
    print(line, flush=True)


def main():
    parser = ours.parser(__doc__)
    parser.add_argument("--hptt", default="", help="folder of HPTT (github.com/springer13/hptt), built there by 'make avx'")
    parser.add_argument("--bytes", default="1,2,4,8", help="of an element, parted by commas (1,2,4,8)")
    args = parser.parse_args()
    bench = ours.Bench(args.kernel)
    if torch:
        torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder, args.hptt) if args.hptt else None
        print(f"GB/s and our share of theirs, one thread, best of {args.rounds} turns, kernel {bench.kernel}")
        print(f"{'':36}{'ours':>8}{'HPTT':>8}{'':6}{'memcpy':>8}{'':6}{'torch':>8}")
        for size in map(int, args.bytes.split(",")):
            for name, shape, dims in CASES + (DIMS if size >= 4 else []):
                compare(bench, program, name, size, shape, dims, args.rounds)


main()
