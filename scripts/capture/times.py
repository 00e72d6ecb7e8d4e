"""Time the copies of a bill in PyTorch: bench import FILE --json > bill.json; python3 times.py bill.json...

Of each clone that changes the layout, x.contiguous() by torch.utils.benchmark on one thread, the least of many by turns, and
the rank correlation (Spearman) of the bill's order with that of these times.
"""

import json
import sys

import torch
from torch.utils import benchmark

ROUNDS = 150


def copies(bill):
    for item in bill["operators"]:
        if item["op"] != "aten::clone" or "predicted" not in item:
            continue
        given = item["inputs"][0]
        shape, strides = given["shape"], given["strides"]
        span = sum((n - 1) * s for n, s in zip(shape, strides)) + 1
        x = torch.ones(span, dtype=getattr(torch, given["dtype"])).as_strided(shape, strides)
        if not x.is_contiguous():
            timer = benchmark.Timer("x.contiguous()", globals={"x": x})
            timer.timeit(3)
            yield {"item": item, "timer": timer, "least": float("inf"), "shape": shape, "strides": strides}


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    return [order.index(k) for k in range(len(values))]


def spearman(a, b):
    n = len(a)
    return 1 - 6 * sum((x - y) ** 2 for x, y in zip(ranks(a), ranks(b))) / (n * (n * n - 1))


def main(paths):
    torch.set_num_threads(1)
    for path in paths:
        with open(path) as file:
            rows = list(copies(json.load(file)))
        for _ in range(ROUNDS):
            for row in rows:
                row["least"] = min(row["least"], row["timer"].timeit(2).median * 1e9)
        for row in rows:
            print("predicted %9.1f us  PyTorch %9.1f us  x%d  %s %s" % (
                row["item"]["predicted"]["ns"] / 1e3, row["least"] / 1e3, row["item"]["calls"], row["shape"], row["strides"]))
        if len(rows) > 1:
            calls = [row["item"]["calls"] for row in rows]
            print("%s: rank correlation %.2f of %d copies" % (path, spearman(
                [row["item"]["predicted"]["ns"] * n for row, n in zip(rows, calls)],
                [row["least"] * n for row, n in zip(rows, calls)]), len(rows)))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: times.py BILL.json...")
    main(sys.argv[1:])
