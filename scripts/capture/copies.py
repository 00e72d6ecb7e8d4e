"""Record two models that copy for their layouts in many ways: python3 copies.py FOLDER

times.py times the copies; measured.md says how well the bill orders them.
"""

import os
import sys

import torch
from torch import nn
from torch.nn import functional

from capture import capture


class Block(nn.Module):
    """A transformer block with an attention that splits its heads, and a layer that mixes tokens."""

    def __init__(self, width=384, heads=6, tokens=196):
        super().__init__()
        self.heads = heads
        self.before = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mix = nn.Linear(tokens, tokens)
        self.between = nn.LayerNorm(width)
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        qkv = self.qkv(self.before(x)).reshape(batch, tokens, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, tokens, width))
        x = x + self.mix(x.transpose(1, 2).contiguous()).transpose(1, 2).contiguous()
        return x + self.narrow(functional.gelu(self.wide(self.between(x))))


class Conv(nn.Module):
    """Convolutions in NCHW with norms in NHWC between them, a space-to-depth, and a head by rows."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 32, 3, padding=1)
        self.second = nn.Conv2d(32, 64, 3, stride=2, padding=1)
        self.third = nn.Conv2d(256, 64, 1)
        self.norms = nn.ModuleList([nn.LayerNorm(32), nn.LayerNorm(64)])
        self.head = nn.Linear(64 * 28, 10)

    def forward(self, x):
        for conv, norm in zip([self.first, self.second], self.norms):
            x = functional.relu(conv(x)).permute(0, 2, 3, 1).contiguous()
            x = norm(x).permute(0, 3, 1, 2).contiguous()
        batch, channels, height, width = x.shape
        x = x.reshape(batch, channels, height // 2, 2, width // 2, 2).permute(0, 1, 3, 5, 2, 4)
        x = functional.relu(self.third(x.reshape(batch, 4 * channels, height // 2, width // 2)))
        x = x.transpose(2, 3).contiguous()
        x = x.flatten(2).transpose(1, 2).reshape(batch, 28, 28 * 64)
        return self.head(x.mean(1))


def main(folder):
    torch.manual_seed(0)
    os.makedirs(folder, exist_ok=True)
    for name, model, x in [("block", Block(), torch.randn(8, 196, 384)), ("conv", Conv(), torch.randn(8, 3, 112, 112))]:
        with torch.no_grad():
            model.eval()(x)  # once, so that what is recorded is not the first
            with capture(os.path.join(folder, name + ".json.gz")):
                model(x)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: copies.py FOLDER")
    main(sys.argv[1])
