"""A block of the Temporal Interlacing Network (arXiv:2001.06499) that predicts the next frame of a clip: tin_shift.

    python3 examples/networks/tin.py
    python3 examples/networks/tin.py --clip clip.gif

Groups of channels move to later frames, each as many as the block learns, so that a frame meets
those before it. Without such a block a network that looks at single frames could not tell in which
direction anything moves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from scenes import Array, make_clip, read_clip
from torch import Tensor, nn
from training import arguments, draw_losses, new_figure, program, reproducible, save, train

import pymluops.torch as ops

BATCH, FRAMES, RATE = 3, 8, 0.006
GROUPS, FARTHEST = 8, 3


class TINBlock(nn.Module):
    """Moves groups of channels along time by learned numbers of frames, between 0 and FARTHEST.

    tin_shift moves by whole frames. A shift between two of them is the mixture of both, so it gets
    a gradient.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.shift = ops.TINShift()
        self.start = nn.Parameter(torch.linspace(-3, 3, GROUPS))
        self.of_clip = nn.Linear(channels, GROUPS)

    def shifts(self, features: Tensor) -> Tensor:
        """Return [B, GROUPS]: the shift of each group, from the mean of the clip's features [B, T, C, HW]."""
        return FARTHEST * (self.start + 0.3 * self.of_clip(features.mean((1, 3)))).sigmoid()

    def forward(self, features: Tensor) -> Tensor:
        shifts = self.shifts(features)
        whole = shifts.detach().floor()
        share = (shifts - whole).repeat_interleave(features.shape[2] // GROUPS, 1)[:, None, :, None]
        near, far = (self.shift(features, (whole + more).int()) for more in (0, 1))
        return features + near * (1 - share) + far * share


class NextFrame(nn.Module):
    """Convolutions of single frames around the block; gives for each frame [B, T, H, W] the one after it."""

    def __init__(self, channels: int = 16) -> None:
        super().__init__()
        self.before = nn.Sequential(nn.Conv2d(1, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU())
        self.block = TINBlock(channels)
        self.after = nn.Sequential(
            nn.Conv2d(channels, 24, 5, padding=2), nn.BatchNorm2d(24), nn.ReLU(),
            nn.Conv2d(24, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU(),
            nn.Conv2d(channels, 1, 3, padding=1),
        )  # fmt: skip

    def features(self, clips: Tensor) -> Tensor:
        batch, frames, height, width = clips.shape
        return self.before(clips.reshape(-1, 1, height, width)).reshape(batch, frames, -1, height * width)

    def forward(self, clips: Tensor) -> Tensor:
        mixed = self.block(self.features(clips))
        return self.after(mixed.reshape(-1, mixed.shape[2], *clips.shape[2:])).reshape(clips.shape)


def draw(network: NextFrame, clip: Array, losses: Sequence[float], title: str):
    frames = torch.from_numpy(clip)[None]
    with torch.no_grad():
        guess = network(frames[:, :-1])[0].numpy()
        shifts = network.block.shifts(network.features(frames[:, :-1]))[0].numpy()
    copied = float(np.square(clip[4:] - clip[3:-1]).mean())
    found = float(np.square(clip[4:] - guess[3:]).mean())
    figure = new_figure(f"{title}: squared error {found:.4f}, of the frame before {copied:.4f}", 16, 7)
    grid = figure.add_gridspec(3, 6, width_ratios=(1, 1, 1, 1, 1, 1.7))
    for column in range(5):
        time = column + 3
        shown = (("input: frame", clip[time]), ("prediction of", guess[time]), ("truth", clip[time + 1]))
        for row, (name, pixels) in enumerate(shown):
            axis = figure.add_subplot(grid[row, column])
            axis.imshow(pixels, cmap="magma", vmin=0, vmax=1)
            axis.set(xticks=[], yticks=[], title=f"{name} {time + 1 + (row > 0)}")
    axis = figure.add_subplot(grid[0, 5])
    axis.bar(range(1, GROUPS + 1), shifts, color="tab:orange")
    axis.set(title="learned shifts", xlabel="group of channels", ylabel="frames", ylim=(0, FARTHEST))
    draw_losses(figure.add_subplot(grid[1:, 5]), losses)
    return figure


def main(argv: Sequence[str] | None = None) -> tuple[list[float], nn.Module]:
    args = arguments(__doc__, "tin", "clip", 300, argv)
    with reproducible(args) as rng:
        own = None if args.data is None else read_clip(args.data)
        network = NextFrame()

        def part() -> Array:
            if own is None:
                return make_clip(rng, FRAMES + 1)
            first = rng.integers(len(own) - FRAMES)
            return own[first : first + FRAMES + 1]

        def loss(step: int) -> Tensor:
            clips = torch.from_numpy(np.stack([part() for _ in range(BATCH)]))
            # The first frames have no others before them.
            return nn.functional.mse_loss(network(clips[:, :-1])[:, 2:], clips[:, 3:])

        losses = train(network, loss, args.steps, RATE)
        title = "TIN on moving dots" if own is None else f"TIN on {args.data.name}"
        save(draw(network, part(), losses, title), args.plot)
    return losses, network


if __name__ == "__main__":
    program(main)
