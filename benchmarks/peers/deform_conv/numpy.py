"""deform_conv with NumPy: columns of the whole map from four rows of channels each, and products of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.families.deform_conv import ROLES
from benchmarks.peers import Variants
from benchmarks.problem import Array, Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the way for the operator; the products use the threads of the matrix library."""

    def run() -> Arrays:
        made = _Columns(problem)
        if problem.case.operator == "deform_conv_forward":
            outputs["out"][...] = made.forward().reshape(outputs["out"].shape)
            return outputs
        for name in ROLES[problem.case.operator][1].split():
            found = made.weight() if name in ("out", "grad_filter") else made.data()[name]
            outputs[name][...] = found.reshape(outputs[name].shape)
        return outputs

    return {"columns": run}


class _Columns:
    """Corners and weights of all places, and what follows from them."""

    def __init__(self, problem: Problem) -> None:
        facts, self.given = problem.case.parameters, problem.inputs
        self.batch, (self.height, self.width) = facts["batch"], facts["size"]
        self.groups, self.deformable = facts["conv_group"], facts["deformable_group"]
        self.outputs, self.channels = facts["out"], facts["in"]
        shape = self.batch, self.height, self.width, self.deformable, 9
        shift = self.given["offset"].reshape(*shape, 2)
        cells = np.arange(9)
        y = shift[..., 0] + (np.arange(self.height)[:, None, None, None] + cells // 3 - 1)
        x = shift[..., 1] + (np.arange(self.width)[:, None, None] + cells % 3 - 1)
        self.mask = self.given["mask"].reshape(shape)
        self.low = y - np.floor(y), x - np.floor(x)
        top, left = np.floor(y).astype(int), np.floor(x).astype(int)
        image = np.arange(self.batch)[:, None, None, None, None]
        self.pixels: list[Array] = []
        self.weights: list[Array] = []
        self.inside: list[Array] = []
        for down in (0, 1):
            for right in (0, 1):
                row, column = top + down, left + right
                inside = (row >= 0) & (row < self.height) & (column >= 0) & (column < self.width)
                self.pixels.append(np.where(inside, (image * self.height + row) * self.width + column, 0))
                along = (self.low[0] if down else 1 - self.low[0]) * (self.low[1] if right else 1 - self.low[1])
                self.weights.append(np.where(inside, along, 0).astype(np.float32))
                self.inside.append(inside)
        self._corners: list[Array] | None = None
        self._data: dict[str, Array] | None = None

    def corners(self) -> list[Array]:
        """Return the channels of the four pixels of each place, [N, H, W, groups, 9, channels]."""
        if self._corners is None:
            rows = self.given["input"].reshape(-1, self.deformable, self.channels // self.deformable)
            number = np.arange(self.deformable)[:, None]
            self._corners = [
                rows[pixel, number] * inside[..., None] for pixel, inside in zip(self.pixels, self.inside, strict=True)
            ]
        return self._corners

    def columns(self) -> Array:
        """Return [groups, N * H * W, 9 * channels of a group]."""
        found: Any = sum(w[..., None] * corner for w, corner in zip(self.weights, self.corners(), strict=True))
        found = (found * self.mask[..., None]).transpose(0, 1, 2, 4, 3, 5)
        grouped = found.reshape(-1, 9, self.groups, self.channels // self.groups)
        return np.ascontiguousarray(grouped.transpose(2, 0, 1, 3)).reshape(self.groups, grouped.shape[0], -1)

    def filters(self) -> Array:
        """Return [groups, outputs of a group, 9 * channels of a group]."""
        return self.given["filter"].reshape(self.groups, self.outputs // self.groups, -1)

    def gradient(self) -> Array:
        """Return [groups, N * H * W, outputs of a group]."""
        return self.given["grad_output"].reshape(-1, self.groups, self.outputs // self.groups).transpose(1, 0, 2)

    def forward(self) -> Array:
        """Return the result."""
        return (self.columns() @ self.filters().transpose(0, 2, 1)).transpose(1, 0, 2)

    def weight(self) -> Array:
        """Return the gradient of the filter."""
        return self.gradient().transpose(0, 2, 1) @ self.columns()

    def data(self) -> dict[str, Array]:
        """Return the gradients of input, offset and mask."""
        if self._data is None:
            product = (self.gradient() @ self.filters()).reshape(self.groups, -1, 9, self.channels // self.groups)
            shape = *self.mask.shape[:3], 9, self.deformable, self.channels // self.deformable
            column = product.transpose(1, 2, 0, 3).reshape(shape).transpose(0, 1, 2, 4, 3, 5)
            a, b, c, d = ((column * corner).sum(-1) for corner in self.corners())
            ly, lx = self.low
            dy = ((1 - lx) * (c - a) + lx * (d - b)) * self.mask
            dx = ((1 - ly) * (b - a) + ly * (d - c)) * self.mask
            total = np.zeros((self.batch * self.height * self.width, *shape[4:]), np.float32)
            number = np.arange(self.deformable)[:, None]
            for pixel, w in zip(self.pixels, self.weights, strict=True):
                np.add.at(total, (pixel, number), (w * self.mask)[..., None] * column)
            mask = sum(w * dot for w, dot in zip(self.weights, (a, b, c, d), strict=True))
            self._data = {"grad_input": total, "grad_offset": np.stack([dy, dx], -1), "grad_mask": np.asarray(mask)}
        return self._data
