"""A sparse 3-D backbone as in SECOND (Sensors 2018) that finds cars in voxels, with CenterPoint's head.

    python3 examples/networks/second.py
    python3 examples/networks/second.py --scan scan.ply

Sub-manifold and strided sparse convolutions see only the voxels that have points. What they find,
from above, becomes a map of how likely the centre of a car is (arXiv:2006.11275). Into a scan of
your own, modelled cars are put; what it has itself counts as background.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from matplotlib.patches import Polygon
from scenes import CLASSES, HALF_SIDE, Array, Street, fit_scan, make_street
from torch import Tensor, nn
from training import arguments, draw_losses, new_figure, program, reproducible, save, train

from pymluops._shown import counted
from pymluops.demo.scans import read_scan
from pymluops.torch.sparse import SparseConv3d, SparseConvTensor, SparseSequential, SubMConv3d, ToDense

BATCH, RATE = 2, 0.004
SPACE = (16, 128, 128)
"""Voxels along z, y and x."""
LOWEST, HEIGHT = -2.2, 6.4
CELL = 2 * HALF_SIDE / 64
"""Metres of a cell of the map of centres."""
SURE = 0.35


def voxelise(xyz: Array) -> tuple[Array, Array]:
    """Return features [L, 5] and places [L, 3] of the voxels: the mean point in the voxel, its height, the count."""
    origin = np.array([LOWEST, -HALF_SIDE, -HALF_SIDE])
    size = np.array([HEIGHT / SPACE[0], 2 * HALF_SIDE / SPACE[1], 2 * HALF_SIDE / SPACE[2]])
    scaled = (xyz[:, ::-1] - origin) / size
    scaled = scaled[((scaled >= 0) & (scaled < SPACE)).all(1)]
    number = np.ravel_multi_index(tuple(scaled.astype(np.int64).T), SPACE)
    occupied, voxel, count = np.unique(number, return_inverse=True, return_counts=True)
    places = np.stack(np.unravel_index(occupied, SPACE), 1)
    middle = np.stack([np.bincount(voxel, column) for column in scaled.T], 1) / count[:, None]
    features = np.column_stack([middle - places - 0.5, middle[:, 0] / SPACE[0], np.log2(count) / 4])
    return features.astype(np.float32), places.astype(np.int32)


class Backbone(nn.Module):
    """Sparse convolutions, their result seen from above, and for each cell of 64 x 64 five values [B, 5, 64, 64].

    They are how likely it is a car's centre, where in the cell, and the cosine and sine of twice
    the heading.
    """

    def __init__(self) -> None:
        super().__init__()

        def stage(kind: type[nn.Module], inputs: int, outputs: int, key: str | None = None, **sizes: object):
            return kind(inputs, outputs, 3, bias=False, indice_key=key, **sizes), nn.BatchNorm1d(outputs), nn.ReLU()

        self.sparse = SparseSequential(
            *stage(SubMConv3d, 5, 16, "full", padding=1),
            *stage(SubMConv3d, 16, 16, "full", padding=1),
            *stage(SparseConv3d, 16, 32, stride=2, padding=1),
            *stage(SubMConv3d, 32, 32, "half", padding=1),
            *stage(SparseConv3d, 32, 32, stride=(4, 1, 1), padding=1),
            ToDense(),
        )  # fmt: skip
        self.head = nn.Sequential(
            nn.Conv2d(64, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 32, 3, padding=2, dilation=2), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 5, 1),
        )  # fmt: skip
        nn.init.constant_(self.head[-1].bias, -2.0)

    def forward(self, scans: Sequence[tuple[Array, Array]]) -> Tensor:
        features = torch.from_numpy(np.concatenate([features for features, _ in scans]))
        places = np.concatenate([np.insert(places, 0, number, 1) for number, (_, places) in enumerate(scans)])
        dense = self.sparse(SparseConvTensor(features, torch.from_numpy(places), SPACE, len(scans)))
        return self.head(dense.flatten(1, 2))


def targets(cars: Array) -> Array:
    """Return [6, 64, 64]: hills around centres, offsets, headings, and 1 in cells with a centre."""
    wanted = np.zeros((6, 64, 64), np.float32)
    row, column = np.mgrid[:64, :64]
    for x, y, _, _, heading in cars:
        cx, cy = (x + HALF_SIDE) / CELL, (y + HALF_SIDE) / CELL
        i, j = int(cy), int(cx)
        hill = np.exp(-((row - i) ** 2 + (column - j) ** 2) / (2 * 1.5**2))
        np.maximum(wanted[0], hill, out=wanted[0])
        wanted[1:, i, j] = cx - j, cy - i, np.cos(2 * heading), np.sin(2 * heading), 1
    return wanted


def error_of(found: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """Return the sum of CenterPoint's errors, and the number of centres that it is divided by.

    They are a focal loss of the map, and the error of offset and heading at true centres.
    """
    centre, sure = wanted[:, 5], found[:, 0].sigmoid().clamp(1e-4, 1 - 1e-4)
    missed = centre * (1 - sure) ** 2 * sure.log()
    invented = (1 - centre) * (1 - wanted[:, 0]) ** 4 * sure**2 * (1 - sure).log()
    wrong = ((found[:, 1:] - wanted[:, 1:5]).abs().sum(1) * centre).sum()
    return 0.5 * wrong - (missed + invented).sum(), centre.sum()


def loss_of(found: Tensor, wanted: Tensor) -> Tensor:
    """Return CenterPoint's loss of a batch."""
    error, centres = error_of(found, wanted)
    return error / centres


def detect(found: Array, highest: Array) -> Array:
    """Return the cars at the peaks of the map, in rows as `Street.cars`."""
    rows, columns = np.nonzero((found[0] > SURE) & (found[0] == highest))
    dx, dy, cos, sin = found[1:, rows, columns]
    x, y = (columns + dx) * CELL - HALF_SIDE, (rows + dy) * CELL - HALF_SIDE
    return np.column_stack([x, y, np.full_like(x, 4.2), np.full_like(x, 1.8), np.arctan2(sin, cos) / 2])


def seen(street: Street) -> Street:
    """Return the street without the cars that few rays meet."""
    points = street.xyz[street.labels == CLASSES.index("car"), :2]
    hits = [(np.abs(points - car[:2]).max(1) < 2).sum() if np.abs(car[:2]).max() < 19 else 0 for car in street.cars]
    return Street(street.xyz, street.labels, street.cars[np.array(hits) >= 30])


def put_into(scan: Array, street: Street) -> Street:
    """Return the scan with the cars of the street, in place of what was there."""
    cars = street.xyz[street.labels == CLASSES.index("car")]
    kept = np.ones(len(scan), bool)
    for x, y, length, _, _ in street.cars:
        near = np.hypot(scan[:, 0] - x, scan[:, 1] - y) < length / 2
        kept &= ~near | (scan[:, 2] < LOWEST + 0.7)
    xyz = np.concatenate([scan[kept], cars])
    labels = np.repeat([0, CLASSES.index("car")], (int(kept.sum()), len(cars)))
    return Street(xyz, labels, street.cars)


def corners(car: Array) -> Array:
    """Return the corners [4, 2] of a car from above."""
    x, y, length, width, heading = car
    along = np.array([np.cos(heading), np.sin(heading)]) * length / 2
    across = np.array([-np.sin(heading), np.cos(heading)]) * width / 2
    around = np.array([along + across, along - across, -along - across, across - along])
    return around + np.array([x, y])


def draw(network: nn.Module, shown: Street, losses: Sequence[float], title: str):
    with torch.no_grad():
        result = network([voxelise(shown.xyz)])[0]
        result[0] = result[0].sigmoid()
        highest = nn.functional.max_pool2d(result[:1], 5, 1, 2)[0].numpy()
    found = result.numpy()
    cars = detect(found, highest)
    figure = new_figure(title, 16, 6.2)
    axes = figure.subplots(1, 4, width_ratios=(3, 3, 3, 2.2))
    order = np.argsort(shown.xyz[:, 2])
    x, y, z = shown.xyz[order].T
    points = axes[0].scatter(x, y, c=z, s=1, cmap="viridis", vmin=-1.8, vmax=2)
    figure.colorbar(points, ax=axes[0], location="bottom", label="height / m", shrink=0.8)
    axes[0].set_title(f"input: {len(voxelise(shown.xyz)[0]):,} voxels with points")
    square = (-HALF_SIDE, HALF_SIDE, -HALF_SIDE, HALF_SIDE)
    heat = axes[1].imshow(found[0], origin="lower", extent=square, cmap="inferno", vmin=0, vmax=1)
    figure.colorbar(heat, ax=axes[1], location="bottom", label="how likely a car's centre is here", shrink=0.8)
    axes[1].set_title("prediction: map of centres")
    axes[2].scatter(x, y, c="0.75", s=0.5)
    for boxes, colour, style, name in ((shown.cars, "tab:green", "-", "truth"), (cars, "tab:red", "--", "prediction")):
        for car in boxes:
            axes[2].add_patch(Polygon(corners(car), fill=False, edgecolor=colour, linestyle=style, linewidth=2))
        axes[2].plot([], [], color=colour, linestyle=style, label=f"{name}: {counted(len(boxes), 'car')}")
    axes[2].legend(loc="lower center", bbox_to_anchor=(0.5, -0.3), ncols=2)
    axes[2].set_title("cars")
    for axis in axes[:3]:
        axis.set(aspect="equal", xlabel="x / m", xlim=square[:2], ylim=square[2:])
    draw_losses(axes[3], losses)
    return figure


def make_streets(rng: np.random.Generator, data: Path | None) -> tuple[list[Street], str]:
    """Return streets, of which the last is for the picture, and the picture's title."""
    streets = [seen(make_street(rng)) for _ in range(13)]
    if data is None:
        return streets, "SECOND and CenterPoint on a modelled street that they have not seen"
    scan = fit_scan(read_scan(data).xyz)
    return [put_into(scan, street) for street in streets], f"SECOND and CenterPoint on {data.name}, with modelled cars"


def main(argv: Sequence[str] | None = None) -> tuple[list[float], nn.Module]:
    args = arguments(__doc__, "second", "scan", 300, argv)
    with reproducible(args) as rng:
        streets, title = make_streets(rng, args.data)
        voxels = [voxelise(street.xyz) for street in streets]
        wanted = torch.from_numpy(np.stack([targets(street.cars) for street in streets]))
        network = Backbone()

        def loss(step: int) -> Tensor:
            chosen = rng.choice(len(streets) - 1, BATCH, replace=False)
            return loss_of(network([voxels[i] for i in chosen]), wanted[torch.from_numpy(chosen)])

        losses = train(network, loss, args.steps, RATE)
        save(draw(network, streets[-1], losses, title), args.plot)
    return losses, network


if __name__ == "__main__":
    program(main)
