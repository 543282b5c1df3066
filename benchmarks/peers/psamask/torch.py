"""psamask with PyTorch: strided copies if the mask covers the map, else a gather with an index made beforehand."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.peers.psamask._views import Geometry
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the ways that suit the mask and the direction."""
    torch: Any = importlib.import_module("torch")
    geometry = Geometry(problem)
    source, target = torch.from_numpy(geometry.source), torch.from_numpy(outputs["out"])
    ways = {"gather": _gather(torch, geometry, source, target)}
    if geometry.full:
        ways["strided view"] = _strided(torch, geometry, source, target)
        if not geometry.collect:
            ways["strided view, transposed matrix"] = _transposed(torch, geometry, source, target)

    def giving(work: Callable[[], object]) -> Callable[[], Arrays]:
        def run() -> Arrays:
            work()
            return outputs

        return run

    return {name: giving(work) for name, work in ways.items()}


def _strided(torch: Any, geometry: Geometry, source: Any, target: Any) -> Callable[[], object]:
    """One copy between the windows of the masks and the map."""
    masks, maps = (source, target) if geometry.forward else (target, source)
    windows = torch.as_strided(masks, geometry.window_shape, geometry.window_strides, geometry.window_offset)
    places = maps.view(geometry.window_shape)
    if not geometry.collect:
        places = places.permute(0, 3, 4, 1, 2)

    def forward() -> object:
        return places.copy_(windows)

    def backward() -> object:
        target.zero_()
        return windows.copy_(places)

    return forward if geometry.forward else backward


def _transposed(torch: Any, geometry: Geometry, source: Any, target: Any) -> Callable[[], object]:
    """As collect, and a transposed copy of a matrix before or after, which PyTorch does in blocks."""
    places = geometry.height * geometry.width
    masks, maps = (source, target) if geometry.forward else (target, source)
    windows = torch.as_strided(masks, geometry.window_shape, geometry.window_strides, geometry.window_offset)
    matrices = maps.view(geometry.batch, places, places)
    between = torch.empty_like(matrices)
    spread = between.view(geometry.window_shape)

    def forward() -> None:
        spread.copy_(windows)
        for matrix, other in zip(matrices, between, strict=True):
            matrix.copy_(other.t())

    def backward() -> None:
        for matrix, other in zip(matrices, between, strict=True):
            other.copy_(matrix.t())
        target.zero_()
        windows.copy_(spread)

    return forward if geometry.forward else backward


def _gather(torch: Any, geometry: Geometry, source: Any, target: Any) -> Callable[[], object]:
    """One gather along an index that depends on the sizes only, so it is made once and not timed."""
    index, missing = source_index(geometry)
    index, missing = torch.from_numpy(index), torch.from_numpy(missing)
    old, new = source.view(geometry.batch, -1), target.view(geometry.batch, -1)
    index = index.unsqueeze(0).expand(geometry.batch, -1)
    some = bool(missing.any())

    def work() -> None:
        torch.gather(old, 1, index, out=new)
        if some:
            new.masked_fill_(missing, 0)

    return work


def source_index(geometry: Geometry) -> tuple[Any, Any]:
    """Return the source element of each element of a batch's result, and whether it has none."""
    height, width, mask, reach = geometry.height, geometry.width, geometry.mask, geometry.reach
    h, w = np.arange(height)[:, None, None, None], np.arange(width)[None, :, None, None]
    if geometry.forward:
        h2, w2 = np.arange(height)[None, None, :, None], np.arange(width)[None, None, None, :]
        if not geometry.collect:  # the first two axes are the place on the map
            h, w, h2, w2 = h2, w2, h, w
        row, column = h2 - h + reach, w2 - w + reach
        here = (row >= 0) & (row < mask) & (column >= 0) & (column < mask)
        index = ((h * width + w) * mask + row) * mask + column
    else:
        h2 = h + np.arange(mask)[None, None, :, None] - reach
        w2 = w + np.arange(mask)[None, None, None, :] - reach
        here = (h2 >= 0) & (h2 < height) & (w2 >= 0) & (w2 < width)
        position, place = h * width + w, h2 * width + w2
        first, second = (position, place) if geometry.collect else (place, position)
        index = first * height * width + second
    return np.where(here, index, 0).reshape(-1), ~here.reshape(-1)
