"""PointNet++ (arXiv:1706.02413) that segments a LiDAR scan: ball_query, three_nn and three_interpolate.

    python3 examples/networks/pointnet2.py
    python3 examples/networks/pointnet2.py --scan scan.ply

It learns from modelled streets, whose ground, houses, cars and poles are known, and segments one
that it has not seen. Of a scan of your own it learns what lies on the ground, low above it, or
high.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from matplotlib.colors import ListedColormap
from scenes import CLASSES, Array, fit_scan, height_labels, make_street
from torch import Tensor, nn
from training import arguments, draw_losses, new_figure, program, reproducible, save, train

import pymluops.torch as ops
from pymluops.demo.scans import read_scan

POINTS, BATCH, RATE = 2048, 4, 0.004
COLOURS = ("0.7", "tab:blue", "tab:red", "gold")


def perceptron(*widths: int) -> nn.Sequential:
    """Linear layers with ReLU between and behind them."""
    return nn.Sequential(*(layer for a, b in pairwise(widths) for layer in (nn.Linear(a, b), nn.ReLU())))


def rows(features: Tensor, numbers: Tensor) -> Tensor:
    """Return features [B, ..., C] of the points whose numbers are [B, ...], taken from [B, N, C]."""
    batch = torch.arange(len(features)).reshape(-1, *[1] * (numbers.ndim - 1))
    flat = (numbers.long() + batch * features.shape[1]).flatten()
    return features.flatten(0, 1).index_select(0, flat).reshape(*numbers.shape, -1)


class Abstraction(nn.Module):
    """Gathers the points around each centre and keeps the largest value of each learned feature."""

    def __init__(self, centres: int, radius: float, samples: int, *widths: int) -> None:
        super().__init__()
        self.centres, self.radius, self.samples = centres, radius, samples
        self.layers = perceptron(widths[0] + 3, *widths[1:])

    def forward(self, xyz: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
        centres = xyz[:, : self.centres].contiguous()  # the points come in random order
        near = ops.ball_query(0.0, self.radius, self.samples, xyz, centres)
        offsets = (rows(xyz, near) - centres[:, :, None]) / self.radius
        return centres, self.layers(torch.cat([offsets, rows(features, near)], -1)).amax(2)


class Propagation(nn.Module):
    """Interpolates features of the centres at the points among which they were chosen."""

    def __init__(self, *widths: int) -> None:
        super().__init__()
        self.layers = perceptron(*widths)

    def forward(self, xyz: Tensor, features: Tensor, centres: Tensor, coarse: Tensor) -> Tensor:
        distance, near = ops.three_nn(xyz, centres)
        weight = 1 / (distance + 1e-4)
        weight = weight / weight.sum(-1, keepdim=True)
        spread = ops.three_interpolate(coarse.transpose(1, 2).contiguous(), near, weight)
        return self.layers(torch.cat([features, spread.transpose(1, 2)], -1))


class PointNet2(nn.Module):
    """Two levels down, two levels up, and the score of each class for each point [B, N, classes]."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.down1 = Abstraction(512, 1.5, 16, 1, 32, 32)
        self.down2 = Abstraction(128, 4.0, 16, 32, 64, 64)
        self.up2 = Propagation(32 + 64, 64)
        self.up1 = Propagation(1 + 64, 64, 64)
        self.score = nn.Linear(64, classes)

    def forward(self, xyz: Tensor) -> Tensor:
        height = xyz[..., 2:]
        centres1, features1 = self.down1(xyz, height)
        centres2, features2 = self.down2(centres1, features1)
        features1 = self.up2(centres1, features1, centres2, features2)
        return self.score(self.up1(xyz, height, centres1, features1))


def segment(network: nn.Module, xyz: Array, rng: np.random.Generator) -> Array:
    """Return the class of each point; they go through the network in random parts."""
    labels = np.zeros(len(xyz), np.int64)
    order = rng.permutation(len(xyz))
    with torch.no_grad():
        for start in range(0, len(xyz), POINTS):
            part = order[start : start + POINTS]
            filled = np.resize(part, POINTS)
            labels[part] = network(torch.from_numpy(xyz[filled])[None])[0].argmax(-1).numpy()[: len(part)]
    return labels


def picture(
    xyz: Array, truth: Array, found: Array, names: Sequence[str], losses: Sequence[float], title: str, known: str
):
    figure = new_figure(title, 15, 5.2)
    axes = figure.subplots(1, 4, width_ratios=(3, 3, 3, 2.2))
    order = np.argsort(xyz[:, 2])
    x, y, z = xyz[order].T
    heights = axes[0].scatter(x, y, c=z, s=1.5, cmap="viridis", vmax=3)
    figure.colorbar(heights, ax=axes[0], location="bottom", label="height / m", shrink=0.8)
    axes[0].set_title("input: points from above")
    colours = ListedColormap(COLOURS[: len(names)])
    right = float((truth == found).mean())
    for axis, labels, name in ((axes[1], found, f"prediction: {right:.1%} right"), (axes[2], truth, known)):
        axis.scatter(x, y, c=labels[order], s=1.5, cmap=colours, vmin=-0.5, vmax=len(names) - 0.5)
        axis.set_title(name)
        for colour, label in zip(COLOURS, names, strict=False):
            axis.scatter([], [], color=colour, label=label)
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, -0.3), ncols=len(names), columnspacing=0.8)
    for axis in axes[:3]:
        axis.set(aspect="equal", xlabel="x / m")
    draw_losses(axes[3], losses)
    return figure


def main(argv: Sequence[str] | None = None) -> tuple[list[float], nn.Module]:
    args = arguments(__doc__, "pointnet2", "scan", 200, argv)
    with reproducible(args) as rng:
        if args.data is None:
            scenes = [(street.xyz, street.labels) for street in (make_street(rng) for _ in range(9))]
            names, known, title = CLASSES, "truth", "PointNet++ on a modelled street that it has not seen"
        else:
            xyz = fit_scan(read_scan(args.data).xyz)
            scenes = [(xyz, height_labels(xyz))]
            names, known = ("ground", "low", "tall"), "what it should find: height above ground"
            title = f"PointNet++ on {args.data.name}"
        network = PointNet2(len(names))
        of_class = np.bincount(np.concatenate([labels for _, labels in scenes]), minlength=len(names))
        balance = torch.tensor(1 / np.sqrt(of_class + 1), dtype=torch.float32)

        def loss(step: int) -> Tensor:
            chosen = [scenes[i] for i in rng.integers(max(1, len(scenes) - 1), size=BATCH)]
            parts = [rng.choice(len(xyz), POINTS, replace=len(xyz) < POINTS) for xyz, _ in chosen]
            xyz = torch.from_numpy(np.stack([xyz[part] for (xyz, _), part in zip(chosen, parts, strict=True)]))
            labels = torch.from_numpy(np.stack([labels[part] for (_, labels), part in zip(chosen, parts, strict=True)]))
            return nn.functional.cross_entropy(network(xyz).flatten(0, 1), labels.flatten(), balance)

        losses = train(network, loss, args.steps, RATE)
        xyz, truth = scenes[-1]
        save(picture(xyz, truth, segment(network, xyz, rng), names, losses, title, known), args.plot)
    return losses, network


if __name__ == "__main__":
    program(main)
