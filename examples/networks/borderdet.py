"""Border refinement as in BorderDet (arXiv:2007.11056): rough boxes become exact by features along their borders.

    python3 examples/networks/borderdet.py
    python3 examples/networks/borderdet.py --image photograph.jpg

BorderAlign takes the strongest feature along each border of each box. From these four features a
small network tells how far each border must move.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.patches import Rectangle
from scenes import Array, Picture, Pictures
from torch import Tensor, nn
from training import arguments, draw_losses, new_figure, program, reproducible, save, train

import pymluops.torch as ops

BATCH, KEPT, RATE = 6, 128, 0.004
STRIDE, POOL, SHAKE = 2, 8, 7.0
KEY = (("red", "--", "input: rough box"), ("lime", "-", "refined"), ("0.8", "-", "truth (white)"))


class BorderRefinement(nn.Module):
    """Features of half the size, those along borders, and how many pixels each border moves [N, K, 4]."""

    def __init__(self, channels: int = 16) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 5, STRIDE, 2), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 32, 3, padding=2, dilation=2), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 4 * channels, 1),
        )  # fmt: skip
        self.align = ops.BorderAlign(POOL)
        self.moves = nn.Sequential(nn.Linear(4 * channels, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, pixels: Tensor, boxes: Tensor) -> Tensor:
        along = self.align(self.features(pixels), boxes / STRIDE)  # [N, C, K, 4]
        return self.moves(along.transpose(1, 2).flatten(2))


def shaken(boxes: Array, rng: np.random.Generator, side: int) -> Array:
    """Return the boxes with each border moved at random, but not outside of the picture."""
    return np.clip(boxes + rng.uniform(-SHAKE, SHAKE, boxes.shape), 0, side - 1).astype(np.float32)


def overlap(boxes: Array, truth: Array) -> Array:
    """Return intersection over union of each box with the true one."""
    corner = np.minimum(boxes[:, 2:], truth[:, 2:]) - np.maximum(boxes[:, :2], truth[:, :2])
    common = np.clip(corner, 0, None).prod(1)
    return common / ((boxes[:, 2:] - boxes[:, :2]).prod(1) + (truth[:, 2:] - truth[:, :2]).prod(1) - common)


def draw(network: nn.Module, shown: Sequence[Picture], rng: np.random.Generator, losses: Sequence[float], title: str):
    figure = new_figure(title, 15, 4.9)
    axes = figure.subplots(1, len(shown) + 1, width_ratios=[3] * len(shown) + [2.4])
    for axis, picture in zip(axes, shown, strict=False):
        rough = shaken(picture.boxes, rng, picture.labels.shape[0])
        with torch.no_grad():
            moves = network(torch.from_numpy(picture.pixels)[None], torch.from_numpy(rough)[None])[0].numpy()
        fine = rough + moves
        axis.imshow(picture.pixels.transpose(1, 2, 0))
        for boxes, colour, style in ((picture.boxes, "white", "-"), (rough, "red", "--"), (fine, "lime", "-")):
            for x1, y1, x2, y2 in boxes:
                corner, size = (x1, y1), (x2 - x1, y2 - y1)
                axis.add_patch(Rectangle(corner, *size, fill=False, edgecolor=colour, linestyle=style, linewidth=1.6))
        before, after = overlap(rough, picture.boxes).mean(), overlap(fine, picture.boxes).mean()
        axis.set(xticks=[], yticks=[], title=f"overlap with truth: {before:.2f}, refined {after:.2f}")
    for colour, style, name in KEY:
        axes[0].plot([], [], color=colour, linestyle=style, label=name)
    figure.legend(loc="outside lower left", ncols=3)
    draw_losses(axes[-1], losses)
    return figure


def main(argv: Sequence[str] | None = None) -> tuple[list[float], nn.Module]:
    args = arguments(__doc__, "borderdet", "image", 250, argv)
    with reproducible(args) as rng:
        made = Pictures(rng, args.data, count=4)
        kept = [made.make() for _ in range(KEPT)]
        kept = [picture for picture in kept if len(picture.boxes) == made.count]
        network = BorderRefinement()

        def loss(step: int) -> Tensor:
            chosen = [kept[i] for i in rng.integers(len(kept), size=BATCH)]
            rough = np.stack([shaken(picture.boxes, rng, made.side) for picture in chosen])
            moves = torch.from_numpy(np.stack([picture.boxes for picture in chosen]) - rough)
            pixels = torch.from_numpy(np.stack([picture.pixels for picture in chosen]))
            return nn.functional.smooth_l1_loss(network(pixels, torch.from_numpy(rough)), moves)

        losses = train(network, loss, args.steps, RATE)
        on = "" if args.data is None else f" on {args.data.name}"
        shown = [made.make() for _ in range(3)]
        save(draw(network, shown, rng, losses, f"BorderDet: boxes of shapes{on} that it has not seen"), args.plot)
    return losses, network


if __name__ == "__main__":
    program(main)
