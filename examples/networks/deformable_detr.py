"""An encoder layer of Deformable DETR (arXiv:2010.04159) whose pixels vote for the centre of their shape.

    python3 examples/networks/deformable_detr.py
    python3 examples/networks/deformable_detr.py --image photograph.jpg

Each pixel of two feature maps looks at a few places around it, which it chooses itself
(MultiScaleDeformableAttention). Then it tells whether it lies on a shape, and where the centre of
this shape is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from scenes import Array, Picture, Pictures
from torch import Tensor, nn
from training import arguments, draw_losses, new_figure, program, reproducible, save, train

import pymluops.torch as ops

BATCH, KEPT, RATE = 4, 128, 0.003
STRIDES, CHANNELS, HEADS, SAMPLES = (4, 8), 32, 4, 4
UNIT = 10.0
"""Pixels that a vote of 1 stands for."""


def block(inputs: int, outputs: int, stride: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1), nn.BatchNorm2d(outputs), nn.ReLU())


class EncoderLayer(nn.Module):
    """Deformable attention of the pixels of all maps to each other, then a perceptron, both with a shortcut."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = ops.MultiScaleDeformableAttention(
            CHANNELS, HEADS, len(STRIDES), SAMPLES, dropout=0.0, batch_first=True
        )
        self.norm1, self.norm2 = nn.LayerNorm(CHANNELS), nn.LayerNorm(CHANNELS)
        self.perceptron = nn.Sequential(nn.Linear(CHANNELS, 2 * CHANNELS), nn.ReLU(), nn.Linear(2 * CHANNELS, CHANNELS))

    def forward(self, pixels: Tensor, positions: Tensor, points: Tensor, shapes: Tensor, starts: Tensor) -> Tensor:
        maps = {"reference_points": points, "spatial_shapes": shapes, "level_start_index": starts}
        pixels = self.norm1(self.attention(pixels, query_pos=positions, **maps))
        return self.norm2(pixels + self.perceptron(pixels))


class Votes(nn.Module):
    """For each pixel of the finest map how sure it is to lie on a shape, and the vote: [B, 3, H, W]."""

    def __init__(self) -> None:
        super().__init__()
        self.fine = nn.Sequential(block(3, 16, 2), block(16, CHANNELS, 2))
        self.coarse = block(CHANNELS, CHANNELS, 2)
        self.level = nn.Parameter(torch.zeros(len(STRIDES), CHANNELS))
        self.encoder = EncoderLayer()
        self.vote = nn.Linear(CHANNELS, 3)

    def inputs(self, image: Tensor) -> tuple[Tensor, ...]:
        """Return what the encoder takes: pixels of both maps, their positions, reference points, sizes and starts."""
        maps = [self.fine(image)]
        maps.append(self.coarse(maps[0]))
        pixels = torch.cat([one.flatten(2).transpose(1, 2) for one in maps], 1)
        places = [reference_points(*one.shape[2:]) for one in maps]
        waves = [torch.cat([torch.sin(place @ angles()), torch.cos(place @ angles())], 1) for place in places]
        positions = torch.cat([wave + level for wave, level in zip(waves, self.level, strict=True)])
        points = torch.cat(places)[None, :, None].expand(len(image), -1, len(maps), -1)
        shapes = torch.tensor([one.shape[2:] for one in maps])
        starts = torch.cat([torch.zeros(1, dtype=torch.int64), shapes.prod(1).cumsum(0)[:-1]])
        return pixels, positions, points, shapes, starts

    def forward(self, image: Tensor) -> Tensor:
        pixels, positions, points, shapes, starts = self.inputs(image)
        found = self.vote(self.encoder(pixels, positions, points, shapes, starts))
        height, width = shapes[0].tolist()
        return found[:, : height * width].transpose(1, 2).reshape(len(image), 3, height, width)


def reference_points(height: int, width: int) -> Tensor:
    """Return x and y of the middle of each pixel, from 0 to 1, [height * width, 2]."""
    y, x = torch.meshgrid((torch.arange(height) + 0.5) / height, (torch.arange(width) + 0.5) / width, indexing="ij")
    return torch.stack([x, y], -1).flatten(0, 1)


def angles() -> Tensor:
    """Return the frequencies [2, CHANNELS // 2] of the waves that tell a position."""
    waves = 2 * torch.pi * 2.0 ** torch.arange(CHANNELS // 4)
    return torch.block_diag(waves[None], waves[None])


def targets(picture: Picture) -> Array:
    """Return what the network should find, [3, H, W]: 1 on shapes, and the way to the centre in `UNIT`s."""
    stride = STRIDES[0]
    shape = picture.shape[stride // 2 :: stride, stride // 2 :: stride]
    centres = (picture.boxes[:, :2] + picture.boxes[:, 2:]) / 2
    y, x = np.mgrid[: shape.shape[0], : shape.shape[1]] * stride + stride // 2
    way = (centres[shape] - np.stack([x, y], -1)) / UNIT
    return np.concatenate([(shape >= 0)[None], way.transpose(2, 0, 1)]).astype(np.float32)


def sampled(network: Votes, image: Tensor, pixel: int) -> tuple[Array, Array]:
    """Return where a pixel of the finest map looks, x and y from 0 to 1, and the weights."""
    pixels, positions, points, shapes, _ = network.inputs(image)
    attention, query = network.encoder.attention, (pixels + positions)[:, pixel]
    offsets = attention.sampling_offsets(query).reshape(HEADS, len(STRIDES), SAMPLES, 2)
    weights = attention.attention_weights(query).reshape(HEADS, -1).softmax(-1)
    places = points[0, pixel, 0] + offsets / shapes.flip(-1)[:, None]
    return places.reshape(-1, 2).numpy(), weights.flatten().numpy()


def draw(network: Votes, shown: Picture, losses: Sequence[float], title: str):
    truth, side = targets(shown), shown.labels.shape[0]
    image = torch.from_numpy(shown.pixels)[None]
    middle = (shown.boxes[0, :2] + shown.boxes[0, 2:]) / 2 / STRIDES[0]
    x, y = int(middle[0]), int(middle[1])
    with torch.no_grad():
        found = network(image)[0].numpy()
        places, weights = sampled(network, image, y * truth.shape[2] + x)
    figure = new_figure(title, 16, 4.6)
    axes = figure.subplots(1, 4, width_ratios=(3, 3, 3, 2.2))
    for axis in axes[:3]:
        axis.imshow(shown.pixels.transpose(1, 2, 0), extent=(0, side, side, 0))
        axis.set(xticks=[], yticks=[], xlim=(0, side), ylim=(side, 0))
    size = 20 + 500 * weights
    axes[0].scatter(*(places * side).T, s=size, c="yellow", edgecolors="black", label="sample (size: weight)")
    here = (np.array([x, y]) + 0.5) * STRIDES[0]
    axes[0].plot(*here, "r+", markersize=14, markeredgewidth=2, label="pixel that looks")
    axes[0].legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=2)
    axes[0].set_title("where one pixel looks")
    for axis, (sure, dx, dy), name in ((axes[1], found, "prediction"), (axes[2], truth, "truth")):
        rows, columns = np.nonzero(sure > (0 if axis is axes[1] else 0.5))
        start = np.stack([columns, rows]) * STRIDES[0] + STRIDES[0] // 2
        way = np.stack([dx[rows, columns], dy[rows, columns]]) * UNIT
        axis.quiver(*start, *way, color="white", angles="xy", scale_units="xy", scale=1, width=0.004)
        axis.scatter(*(start + way), s=8, color="red", zorder=3)
        axis.set_title(f"{name}: votes for centres (red)")
    draw_losses(axes[3], losses)
    return figure


def main(argv: Sequence[str] | None = None) -> tuple[list[float], nn.Module]:
    args = arguments(__doc__, "deformable_detr", "image", 300, argv)
    with reproducible(args) as rng:
        made = Pictures(rng, args.data)
        kept = [made.make() for _ in range(KEPT)]
        pixels = torch.from_numpy(np.stack([picture.pixels for picture in kept]))
        truth = torch.from_numpy(np.stack([targets(picture) for picture in kept]))
        network = Votes()

        def loss(step: int) -> Tensor:
            chosen = torch.from_numpy(rng.choice(KEPT, BATCH, replace=False))
            found, wanted = network(pixels[chosen]), truth[chosen]
            sure = nn.functional.binary_cross_entropy_with_logits(found[:, 0], wanted[:, 0])
            way = (found[:, 1:] - wanted[:, 1:]).abs().sum(1)
            return sure + (way * wanted[:, 0]).sum() / wanted[:, 0].sum()

        losses = train(network, loss, args.steps, RATE)
        on = "" if args.data is None else f" on {args.data.name}"
        title = f"Deformable DETR: shapes{on} that it has not seen"
        save(draw(network, made.make(), losses, title), args.plot)
    return losses, network


if __name__ == "__main__":
    program(main)
