"""psamask with numba: every row of the result is written once, zeros and data together.

The loops index flat arrays with unsigned numbers: signed ones numba compares with 0, and then
nothing is vectorised.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.peers.numba_support import inlined, parallel, prange
from benchmarks.peers.psamask._views import Geometry
from benchmarks.problem import Arrays, Problem

u = np.uint64


@inlined
def _row(target: Any, to: int, size: int, low: int, high: int, source: Any, start: int, step: int) -> None:
    """Write a row of `size` values: zeros up to `low`, every step-th value of the source up to `high`, zeros."""
    for i in range(low):
        target[u(to + i)] = 0
    if step == 1:
        for i in range(high - low):
            target[u(to + low + i)] = source[u(start + i)]
    else:
        for i in range(high - low):
            target[u(to + low + i)] = source[u(start + i * step)]
    for i in range(size - high):
        target[u(to + high + i)] = 0


@inlined
def _zero(target: Any, to: int, size: int) -> None:
    for i in range(size):
        target[u(to + i)] = 0


def _collect_forward(x: Any, y: Any, batch: int, height: int, width: int, mask: int, reach: int) -> None:
    for task in prange(batch * height * width):
        w, h = task % width, task // width % height
        left, right = max(0, w - reach), min(width, w + mask - reach)
        for h2 in range(height):
            row, to = h2 - h + reach, (task * height + h2) * width
            if 0 <= row < mask:
                _row(y, to, width, left, right, x, (task * mask + row) * mask + left - w + reach, 1)
            else:
                _zero(y, to, width)


def _distribute_forward(x: Any, y: Any, batch: int, height: int, width: int, mask: int, reach: int) -> None:
    for task in prange(batch * height):
        h2, n = task % height, task // height
        for h in range(height):
            row = h2 - h + reach
            for w2 in range(width):
                to = ((task * width + w2) * height + h) * width
                if 0 <= row < mask:
                    # The mask at column w reaches w2 if w2 is not below w - reach and below w -
                    # reach + mask.
                    left, right = max(0, w2 + reach - mask + 1), min(width, w2 + reach + 1)
                    start = (((n * height + h) * width + left) * mask + row) * mask + w2 - left + reach
                    _row(y, to, width, left, right, x, start, mask * mask - 1)
                else:
                    _zero(y, to, width)


def _collect_backward(dy: Any, dx: Any, batch: int, height: int, width: int, mask: int, reach: int) -> None:
    for task in prange(batch * height * width):
        w, h = task % width, task // width % height
        low, high = max(0, reach - w), min(mask, width + reach - w)
        for row in range(mask):
            h2, to = row + h - reach, (task * mask + row) * mask
            if 0 <= h2 < height:
                _row(dx, to, mask, low, high, dy, (task * height + h2) * width + low + w - reach, 1)
            else:
                _zero(dx, to, mask)


def _distribute_backward(dy: Any, dx: Any, batch: int, height: int, width: int, mask: int, reach: int) -> None:
    for task in prange(batch * height):
        h, n = task % height, task // height
        for row in range(mask):
            h2 = row + h - reach
            for w in range(width):
                to = ((task * width + w) * mask + row) * mask
                if 0 <= h2 < height:
                    low, high = max(0, reach - w), min(mask, width + reach - w)
                    first = (n * height + h2) * width + low + w - reach
                    _row(dx, to, mask, low, high, dy, (first * height + h) * width + w, height * width)
                else:
                    _zero(dx, to, mask)


_FUNCTIONS = {
    (True, True): parallel(_collect_forward),
    (True, False): parallel(_distribute_forward),
    (False, True): parallel(_collect_backward),
    (False, False): parallel(_distribute_backward),
}


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the loops for the mode and the direction."""
    geometry = Geometry(problem)
    source, target = geometry.source.reshape(-1), outputs["out"].reshape(-1)
    function = _FUNCTIONS[geometry.forward, geometry.collect]
    sizes = (geometry.batch, geometry.height, geometry.width, geometry.mask, geometry.reach)

    def rows() -> Arrays:
        function(source, target, *sizes)
        return outputs

    return {"rows": rows}
