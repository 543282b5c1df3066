"""psamask with numba: every row of the result is written once, zeros and data together."""

from __future__ import annotations

from typing import Any

from pymluops.bench.peers import Variants
from pymluops.bench.peers.numba_support import parallel, prange
from pymluops.bench.peers.psamask_views import Geometry
from pymluops.bench.problem import Arrays, Problem


def _collect_forward(x: Any, y: Any, reach: int) -> None:
    batch, height, width, mask, _ = x.shape
    for task in prange(batch * height * width):
        w = task % width
        h = task // width % height
        n = task // width // height
        left, right = max(0, w - reach), min(width, w + mask - reach)
        shift = reach - w
        for h2 in range(height):
            row = h2 - h + reach
            if row < 0 or row >= mask:
                y[n, h, w, h2, :] = 0
                continue
            y[n, h, w, h2, :left] = 0
            for w2 in range(left, right):
                y[n, h, w, h2, w2] = x[n, h, w, row, w2 + shift]
            y[n, h, w, h2, right:] = 0


def _distribute_forward(x: Any, y: Any, reach: int) -> None:
    batch, height, width, mask, _ = x.shape
    for task in prange(batch * height):
        h2 = task % height
        n = task // height
        for h in range(height):
            row = h2 - h + reach
            if row < 0 or row >= mask:
                y[n, h2, :, h, :] = 0
                continue
            for w2 in range(width):
                # The mask at column w reaches w2 if w2 lies within w - reach and w + mask - reach.
                left, right = max(0, w2 + reach - mask + 1), min(width, w2 + reach + 1)
                y[n, h2, w2, h, :left] = 0
                for w in range(left, right):
                    y[n, h2, w2, h, w] = x[n, h, w, row, w2 - w + reach]
                y[n, h2, w2, h, right:] = 0


def _collect_backward(dy: Any, dx: Any, reach: int) -> None:
    batch, height, width, mask, _ = dx.shape
    for task in prange(batch * height * width):
        w = task % width
        h = task // width % height
        n = task // width // height
        low, high = max(0, reach - w), min(mask, width + reach - w)
        shift = w - reach
        for row in range(mask):
            h2 = row + h - reach
            if h2 < 0 or h2 >= height:
                dx[n, h, w, row, :] = 0
                continue
            dx[n, h, w, row, :low] = 0
            for column in range(low, high):
                dx[n, h, w, row, column] = dy[n, h, w, h2, column + shift]
            dx[n, h, w, row, high:] = 0


def _distribute_backward(dy: Any, dx: Any, reach: int) -> None:
    batch, height, width, mask, _ = dx.shape
    for task in prange(batch * height):
        h = task % height
        n = task // height
        for row in range(mask):
            h2 = row + h - reach
            for w in range(width):
                if h2 < 0 or h2 >= height:
                    dx[n, h, w, row, :] = 0
                    continue
                low, high = max(0, reach - w), min(mask, width + reach - w)
                dx[n, h, w, row, :low] = 0
                for column in range(low, high):
                    dx[n, h, w, row, column] = dy[n, h2, column + w - reach, h, w]
                dx[n, h, w, row, high:] = 0


_FUNCTIONS = {
    (True, True): parallel(_collect_forward),
    (True, False): parallel(_distribute_forward),
    (False, True): parallel(_collect_backward),
    (False, False): parallel(_distribute_backward),
}


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the loops for the mode and the direction."""
    geometry = Geometry(problem)
    masks = (geometry.batch, geometry.height, geometry.width, geometry.mask, geometry.mask)
    before, after = (masks, geometry.window_shape) if geometry.forward else (geometry.window_shape, masks)
    source, target = geometry.source.reshape(before), outputs["out"].reshape(after)
    function = _FUNCTIONS[geometry.forward, geometry.collect]

    def rows() -> Arrays:
        function(source, target, geometry.reach)
        return outputs

    return {"rows": rows}
