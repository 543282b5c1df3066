"""An attention head of PSANet (ECCV 2018) that segments shapes: PSAMask, collecting and distributing.

    python3 examples/networks/psanet.py
    python3 examples/networks/psanet.py --image photograph.jpg

Every position learns a mask of how much it looks at the positions around it (collect) and how much
it tells them (distribute). Whether a pixel belongs to a disc, a square or a triangle is nothing
that its neighbours alone can tell.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.colors import ListedColormap
from scenes import SHAPES, Picture, Pictures
from torch import Tensor, nn
from training import arguments, draw_losses, new_figure, program, reproducible, save, train

import pymluops.torch as ops

BATCH, KEPT, RATE = 4, 128, 0.004
STRIDE, MASK = 4, 15
COLOURS = ("0.85", "tab:red", "tab:blue", "tab:green")


class Attention(nn.Module):
    """One direction of the attention: a mask of MASK x MASK for each position weighs the features of all others."""

    def __init__(self, kind: str, channels: int) -> None:
        super().__init__()
        self.masks = nn.Sequential(nn.Conv2d(channels, channels, 1), nn.ReLU(), nn.Conv2d(channels, MASK * MASK, 1))
        self.spread = ops.PSAMask(kind, (MASK, MASK))

    def weights(self, features: Tensor) -> Tensor:
        """Return [N, HW, H, W]: how much each position (last two) gets of each other (second)."""
        return self.spread(self.masks(features).sigmoid()) / MASK

    def forward(self, features: Tensor) -> Tensor:
        mixed = torch.bmm(features.flatten(2), self.weights(features).flatten(2))
        return mixed.reshape(features.shape)


class PSAHead(nn.Module):
    """Features of a quarter of the size, both attentions, and the score of each class for each pixel."""

    def __init__(self, channels: int = 24) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 5, 2, 2), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, channels, 3, 2, 1), nn.BatchNorm2d(channels), nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU(),
        )  # fmt: skip
        self.collect, self.distribute = Attention("collect", channels), Attention("distribute", channels)
        self.mixed = nn.Sequential(nn.Conv2d(3 * channels, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU())
        self.score = nn.Conv2d(32, len(SHAPES) * STRIDE * STRIDE, 1)

    def forward(self, pixels: Tensor) -> Tensor:
        features = self.features(pixels)
        both = torch.cat([features, self.collect(features), self.distribute(features)], 1)
        return nn.functional.pixel_shuffle(self.score(self.mixed(both)), STRIDE)


def draw(network: PSAHead, shown: Picture, losses: Sequence[float], title: str):
    pixels = torch.from_numpy(shown.pixels)[None]
    with torch.no_grad():
        found = network(pixels)[0].argmax(0).numpy()
        features = network.features(pixels)
        looks = network.collect.weights(features)[0]  # [HW, H, W]
        tells = network.distribute.weights(features)[0]
    box = shown.boxes[int(np.argmax(shown.boxes[:, 2] - shown.boxes[:, 0]))]
    x, y = int((box[0] + box[2]) / 2 / STRIDE), int((box[1] + box[3]) / 2 / STRIDE)
    side = looks.shape[1]
    figure = new_figure(title, 13.5, 7.6)
    axes = figure.subplots(2, 3).ravel()
    axes[0].imshow(shown.pixels.transpose(1, 2, 0))
    axes[0].set_title("input")
    colours = ListedColormap(COLOURS)
    right = float((found == shown.labels).mean())
    named = f"prediction: {right:.1%} of pixels right"
    for axis, labels, name in ((axes[1], found, named), (axes[2], shown.labels, "truth")):
        axis.imshow(labels, cmap=colours, vmin=-0.5, vmax=3.5, interpolation="nearest")
        axis.set_title(name)
    for colour, name in zip(COLOURS, SHAPES, strict=True):
        axes[2].scatter([], [], color=colour, marker="s", label=name)
    axes[2].legend(loc="center left", bbox_to_anchor=(1, 0.5))
    collected, told = looks[:, y, x].reshape(side, side), tells[y * side + x]
    for axis, weights, name in (
        (axes[3], collected, "collect: what the cross looks at"),
        (axes[4], told, "distribute: whom the cross tells"),
    ):
        axis.imshow(shown.pixels.mean(0), cmap="gray", extent=(0, side, side, 0), vmax=1.6)
        drawn = axis.imshow(weights, cmap="inferno", alpha=0.75, extent=(0, side, side, 0))
        figure.colorbar(drawn, ax=axis, shrink=0.8)
        axis.plot(x + 0.5, y + 0.5, "c+", markersize=12, markeredgewidth=2)
        axis.set_title(name)
    draw_losses(axes[5], losses)
    for axis in axes[:5]:
        axis.set(xticks=[], yticks=[])
    return figure


def main(argv: Sequence[str] | None = None) -> tuple[list[float], nn.Module]:
    args = arguments(__doc__, "psanet", "image", 600, argv)
    with reproducible(args) as rng:
        made = Pictures(rng, args.data)
        kept = [made.make() for _ in range(KEPT)]
        pixels = torch.from_numpy(np.stack([picture.pixels for picture in kept]))
        labels = torch.from_numpy(np.stack([picture.labels for picture in kept]))
        network = PSAHead()
        balance = torch.tensor([0.4, 1.0, 1.0, 1.0])

        def loss(step: int) -> Tensor:
            chosen = torch.from_numpy(rng.choice(KEPT, BATCH, replace=False))
            return nn.functional.cross_entropy(network(pixels[chosen]), labels[chosen], balance)

        losses = train(network, loss, args.steps, RATE)
        on = "" if args.data is None else f" on {args.data.name}"
        save(draw(network, made.make(), losses, f"PSANet: shapes{on} that it has not seen"), args.plot)
    return losses, network


if __name__ == "__main__":
    program(main)
