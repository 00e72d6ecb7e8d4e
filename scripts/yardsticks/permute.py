"""Compares permuted copies of float32 with PyTorch's contiguous() on one thread."""

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


def timed(bytes_moved, run):
    start = time.perf_counter()
    run()
    return bytes_moved / (time.perf_counter() - start) / 1e9


def main():
    args = ours.arguments(__doc__)
    bench = ours.Bench(args.kernel)
    if torch:
        torch.set_num_threads(1)
    print(f"{'':24}{'ours':>8}{'plain':>8}  ratio {'torch':>8}  ratio  (GB/s, one thread, best of {args.rounds}; kernel {bench.kernel})")
    for name, shape, dims in CASES:
        text = "x".join(map(str, shape))
        runs = {
            "ours": lambda: bench.rate("--shape", text, "--op", "copy", "--view", f"permute({','.join(map(str, dims))})"),
            "plain": lambda: bench.rate("--shape", text, "--op", "copy"),
        }
        if torch:
            x = torch.ones(shape)
            runs["torch"] = lambda: timed(2 * x.numel() * 4, x.permute(dims).contiguous)
        best = ours.bests(runs, args.rounds)
        line = f"{name:24}{best['ours']:8.1f}{best['plain']:8.1f}  {best['ours'] / best['plain']:5.2f}"
        if torch:
            line += f" {best['torch']:8.1f}  {best['ours'] / best['torch']:5.2f}"
        print(line, flush=True)


main()
