"""psamask with NumPy: one strided copy if the mask covers the map, else a copy of a window for each position."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import as_strided

from benchmarks.peers import Variants
from benchmarks.peers.psamask._views import Geometry
from benchmarks.problem import Array, Arrays, Problem
from benchmarks.threads import together


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the ways that suit the mask; rows of positions are shared among threads of Python."""
    geometry = Geometry(problem)
    ways = {"windows": together(_windows(geometry, outputs["out"]), geometry.height, threads)}
    if geometry.full:
        ways["strided view"] = together(_strided(geometry, outputs["out"]), geometry.height, threads)

    def giving(work: Callable[[], object]) -> Callable[[], Arrays]:
        def run() -> Arrays:
            if not geometry.forward or not geometry.full:
                outputs["out"].fill(0)
            work()
            return outputs

        return run

    return {name: giving(work) for name, work in ways.items()}


def _strided(geometry: Geometry, out: Array) -> Callable[[int, int], None]:
    masks, maps = (geometry.source, out) if geometry.forward else (out, geometry.source)
    strides = tuple(stride * masks.itemsize for stride in geometry.window_strides)
    windows = as_strided(masks.reshape(-1)[geometry.window_offset :], geometry.window_shape, strides)
    places = maps.reshape(geometry.window_shape)
    if not geometry.collect:
        places = places.transpose(0, 3, 4, 1, 2)
    source, target = (windows, places) if geometry.forward else (places, windows)

    def work(start: int, stop: int) -> None:
        np.copyto(target[:, start:stop], source[:, start:stop])

    return work


def _windows(geometry: Geometry, out: Array) -> Callable[[int, int], None]:
    masks, maps = (geometry.source, out) if geometry.forward else (out, geometry.source)
    batch, height, width, mask = geometry.batch, geometry.height, geometry.width, geometry.mask
    cells = masks.reshape(batch, height, width, mask, mask)
    places = maps.reshape(geometry.window_shape)
    if not geometry.collect:
        places = places.transpose(0, 3, 4, 1, 2)

    def work(start: int, stop: int) -> None:
        for h in range(start, stop):
            top, bottom = geometry.span(h, height)
            rows = slice(top - h + geometry.reach, bottom - h + geometry.reach)
            for w in range(width):
                left, right = geometry.span(w, width)
                window = cells[:, h, w, rows, left - w + geometry.reach : right - w + geometry.reach]
                place = places[:, h, w, top:bottom, left:right]
                if geometry.forward:
                    place[...] = window
                else:
                    window[...] = place

    return work
