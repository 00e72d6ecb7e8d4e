"""Ask live PyTorch whether `bench advise` is right about contiguous(): python3 advice.py BENCH

BENCH is the program. Each of the 16 pairs of view and operation is timed by one thread, over the view, over its copy, and
the copy itself, and then `bench advise --order torch --json` is asked for 1, 3 and 100 passes. A verdict has to agree where
the two differ by 1.3 times or more. The exit code is 1 if one does not.
"""

import json
import statistics
import subprocess
import sys
import time

import torch

CLEAR = 1.3
MATRIX, IMAGES = (2048, 2048), (4, 64, 128, 128)
NHWC = "permute(0,2,3,1)"
CASES = [  # shape of x, view, operation
    (MATRIX, "t()", "sum"), (MATRIX, "t()", "add"), (MATRIX, "t()", "copy"), (MATRIX, "t()", "sum(0)"), (MATRIX, "t()", "sum(1)"),
    (IMAGES, NHWC, "sum"), (IMAGES, NHWC, "add"), (IMAGES, NHWC, "copy"), (IMAGES, NHWC, "sum(3)"),
    ((4, 128, 128, 64), "permute(0,3,1,2)", "add"),  # channels_last
    ((2048, 4096), "[:, ::2]", "sum"), ((2048, 4096), "[:, ::2]", "add"), ((2048, 8192), "[:, ::4]", "copy"),
    ((160, 160, 160), "permute(2,1,0)", "add"),
    ((2048, 1), "expand(2048,2048)", "sum"), ((2048, 1), "expand(2048,2048)", "add"),
]


def timed(call, least=0.2):
    """Return the median seconds of CPU of a call, of samples that take `least` seconds together."""
    call()
    samples, start = [], time.thread_time()
    while len(samples) < 5 or time.thread_time() - start < least:
        begin = time.thread_time()
        call()
        samples.append(time.thread_time() - begin)
    return statistics.median(samples)


def measure(shape, view, op):
    """Return the seconds of a pass over the view, of one over its copy, and of the copy."""
    x = torch.randn(*shape)
    v = eval("x" + (view if view[0] == "[" else "." + view))
    y = torch.randn(*v.shape)
    calls = {"sum": lambda t: t.sum(), "add": lambda t: t + y, "copy": lambda t: y.copy_(t)}
    call = calls.get(op) or (lambda t: t.sum(int(op[4])))
    copy = v.contiguous()
    return timed(lambda: call(v)), timed(lambda: call(copy)), timed(v.contiguous)


def verdict(bench, shape, view, op, passes):
    """Return whether advise says to copy first, and whether it calls that a near tie."""
    size = "x".join(map(str, shape))
    command = [bench, "advise", "--order", "torch", "--json", "--shape", size, "--view", view, "--passes", str(passes), "--op", op[:4].rstrip("(")]
    if op == "add":
        command += ["--with", "x".join(map(str, eval("torch.empty(shape)" + (view if view[0] == "[" else "." + view)).shape))]
    if op[3:4] == "(":
        command += ["--dims", op[4]]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["torch"]
    return said["copy"], said["ties"]


def main(bench):
    torch.set_num_threads(1)
    wrong = clear = 0
    print("| shape | view | operation | pass over the view | over the copy | contiguous() | 1 pass | 3 passes | 100 passes |\n|:--|:--|:--|--:|--:|--:|:--|:--|:--|")
    for shape, view, op in CASES:
        over, after, copy = measure(shape, view, op)
        cells = []
        for passes in 1, 3, 100:
            times = passes * over / (copy + passes * after)
            said, tie = verdict(bench, shape, view, op, passes)
            matters = max(times, 1 / times) >= CLEAR
            fault = matters and said != (times > 1)
            clear, wrong = clear + matters, wrong + fault
            cells.append(("copy" if said else "no") + (", a tie" if tie else "") + f" ({times:.2f}x)" + (" **wrong**" if fault else ""))
        figures = " | ".join(f"{1e3 * t:.3g} ms" for t in (over, after, copy))
        print(f"| {'x'.join(map(str, shape))} | `{view}` | {op} | {figures} | {' | '.join(cells)} |", flush=True)
    print(f"\n{clear - wrong} of {clear} verdicts agree where PyTorch's times differ by {CLEAR} times or more.")
    return wrong > 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: advice.py BENCH")
    sys.exit(main(sys.argv[1]))
