"""Record a small net of ConvNeXt's blocks: python3 convnext.py FILE [channels_last]

It is what docs/model.md walks through. With the second word the images are given in channels_last, which is the one line
that the walk changes.
"""

import sys

import torch
from torch import nn
from torch.nn import functional

from capture import capture


class Block(nn.Module):
    """Mixes pixels by a convolution (NCHW), then channels by two linear layers (NHWC)."""

    def __init__(self, width):
        super().__init__()
        self.mix = nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.LayerNorm(width)
        self.wide = nn.Linear(width, 2 * width)
        self.narrow = nn.Linear(2 * width, width)

    def forward(self, x):
        y = self.mix(x).permute(0, 2, 3, 1)
        y = self.narrow(functional.gelu(self.wide(self.norm(y))))
        return x + y.permute(0, 3, 1, 2)


def main(path, memory_format):
    torch.manual_seed(0)
    net = nn.Sequential(Block(64), Block(64)).eval()
    images = torch.randn(4, 64, 56, 56)
    if memory_format == "channels_last":
        images = images.to(memory_format=torch.channels_last)  # the one line
    with torch.no_grad():
        net(images)  # once, so that what is recorded is not the first
        with capture(path):
            net(images)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: convnext.py FILE [channels_last]")
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
