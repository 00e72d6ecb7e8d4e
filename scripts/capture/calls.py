"""Time operators in PyTorch beside what a bill predicts: python3 calls.py BENCH [PREFIX...]

BENCH is the program. Of each call, over tensors that lie in eight ways, the least of seven times on one thread, in microseconds,
and what `bench import` has of it. PREFIX picks calls whose names begin so.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

import torch
from torch.nn import functional
from torch.utils import benchmark

from capture import capture

ROUNDS = 7


def tensors():
    images, matrix, tokens = torch.randn(16, 64, 56, 56), torch.randn(2000, 2000), torch.randn(16, 197, 768)
    return {
        "nchw": images,
        "channels_last": images.to(memory_format=torch.channels_last),
        "nhwc view": images.permute(0, 2, 3, 1),
        "matrix": matrix,
        "transposed": matrix.t(),
        "sliced": torch.randn(2000, 4000)[:, ::2],
        "tokens": tokens,
        "heads": tokens.view(16, 197, 12, 64).permute(0, 2, 1, 3),
    }


def calls():
    """Names, and what is called."""
    weights, rows = torch.rand(64), torch.randperm(2000)
    any_shape = {
        "relu": torch.relu, "mul": lambda x: x * 2, "clone": torch.clone, "gelu": functional.gelu, "gt": lambda x: x > 0,
        "contiguous": lambda x: x.clone(memory_format=torch.contiguous_format), "bfloat16": lambda x: x.to(torch.bfloat16),
        "sum": torch.sum, "sum 0": lambda x: x.sum(0), "sum 1": lambda x: x.sum(1), "sum -1": lambda x: x.sum(-1), "mean -1": lambda x: x.mean(-1),
        "amax 0": lambda x: x.amax(0), "var -1": lambda x: x.var(-1), "argmax -1": lambda x: x.argmax(-1), "softmax 1": lambda x: x.softmax(1),
        "softmax -1": lambda x: x.softmax(-1), "layer_norm": lambda x: functional.layer_norm(x, x.shape[-1:]), "cumsum -1": lambda x: x.cumsum(-1),
        "cat 0": lambda x: torch.cat([x, x], 0), "cat -1": lambda x: torch.cat([x, x], -1), "stack": lambda x: torch.stack([x, x]),
        "roll": lambda x: torch.roll(x, 1, 0), "flip": lambda x: x.flip(0), "repeat": lambda x: x.repeat(2, *[1] * (x.dim() - 1)),
        "index_select": lambda x: x.index_select(0, torch.arange(16)),
    }
    of_images = {
        "batch_norm": lambda x: functional.batch_norm(x, weights, weights, weights, weights), "group_norm": lambda x: functional.group_norm(x, 8),
        "pad": lambda x: functional.pad(x, (1, 1, 1, 1)), "pixel_shuffle": lambda x: functional.pixel_shuffle(x, 2),
        "max_pool2d": lambda x: functional.max_pool2d(x, 2), "add of channels": lambda x: x + weights[:, None, None],
    }
    of_matrices = {"index": lambda x: x[rows], "add of a row": lambda x: x + torch.ones(2000), "embedding": lambda x: functional.embedding(rows[:1000], x)}
    for where, x in tensors().items():
        taken = dict(any_shape)
        taken.update(of_images if where in ("nchw", "channels_last") else of_matrices if where in ("matrix", "transposed") else {})
        for name, function in taken.items():
            yield name + " " + where, lambda function=function, x=x: function(x)


def bill(program, call):
    """The predicted ns, and whether what is computed takes longer."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.json")
        with capture(trace):
            call()
        told = subprocess.run([program, "import", trace, "--json"], stdout=subprocess.PIPE, check=True).stdout
    items = [item for item in json.loads(told)["operators"] if item.get("predicted")]
    return sum(item["predicted"]["ns"] * item["calls"] for item in items), any(item.get("computes") for item in items)


def main(program, prefixes):
    torch.set_num_threads(1)
    ratios = []
    with torch.no_grad():
        for name, call in calls():
            if prefixes and not name.startswith(tuple(prefixes)):
                continue
            predicted, computes = bill(program, call)
            timer = benchmark.Timer("call()", globals={"call": call})
            timer.timeit(1)
            took = min(timer.timeit(1).median for _ in range(ROUNDS)) * 1e9
            if predicted == 0:
                continue  # views, and what copies nothing
            print("%-28s PyTorch %9.1f us  bill %9.1f us  %5.2f%s" % (name, took / 1e3, predicted / 1e3, predicted / took, "  computes" if computes else ""))
            if not computes:
                ratios.append(predicted / took)
    off = sorted(abs(r - 1) for r in ratios)
    print("%d calls that do not compute for longer than memory takes: %.2f in the median, off by %.0f%% in the median and %.0f%% for one in ten" % (
        len(ratios), statistics.median(ratios), 100 * statistics.median(off), 100 * off[len(off) * 9 // 10]))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: calls.py BENCH [PREFIX...]")
    main(sys.argv[1], sys.argv[2:])
