"""Write execution traces of two small models into a folder: python3 models.py FOLDER

They are what the tests of access/operators read (testdata/block.json.gz, testdata/conv.json.gz).
"""

import os
import sys

import torch
from torch import nn
from torch.nn import functional

from capture import capture


class Block(nn.Module):
    """A transformer block that splits its heads as many do: reshape, permute, and a copy for each."""

    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads = heads
        self.before = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.between = nn.LayerNorm(width)
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        qkv = self.qkv(self.before(x)).reshape(batch, tokens, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5).softmax(-1)
        mixed = (weights @ v).transpose(1, 2).reshape(batch, tokens, width)
        x = x + self.out(mixed)
        return x + self.narrow(functional.gelu(self.wide(self.between(x))))


class Conv(nn.Module):
    """A small convolutional net that goes from NCHW to NHWC in the middle and back."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(16)
        self.scale = nn.LayerNorm(16)
        self.second = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.norm(self.first(x))), 2)
        x = self.scale(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2).contiguous()
        x = functional.relu_(self.second(x))
        x = torch.cat([x, x.flip(3)], 0)
        return self.head(x.mean((2, 3)))


def main(folder):
    torch.manual_seed(0)
    os.makedirs(folder, exist_ok=True)
    with torch.no_grad():
        block, tokens = Block().eval(), torch.randn(2, 48, 64)
        with capture(os.path.join(folder, "block.json.gz")):
            block(tokens)
    conv, images = Conv(), torch.randn(4, 3, 32, 32)
    with capture(os.path.join(folder, "conv.json.gz")):
        conv(images).sum().backward()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: models.py FOLDER")
    main(sys.argv[1])
