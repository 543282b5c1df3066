"""psamask: every position (h, w) owns a mask of h_mask x w_mask cells that is laid, centred, over the feature map.

Two independent writings: :func:`forward` and :func:`backward` go through positions and cells one by
one, the functions ending in ``_by_cell`` treat all positions of one mask cell together and are
quick enough for large maps.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import BAD_PARAM, Refusals
from pymluops.oracle.ways import Way

COLLECT, DISTRIBUTE = 0, 1


def _cells(height: int, width: int, h_mask: int, w_mask: int) -> Iterator[tuple[int, ...]]:
    """Yields (h, w, mask cell, h', w') for every mask cell that lies on the map."""
    half_h, half_w = (h_mask - 1) >> 1, (w_mask - 1) >> 1
    for h in range(height):
        for w in range(width):
            for hi in range(h_mask):
                for wi in range(w_mask):
                    h_out, w_out = hi + h - half_h, wi + w - half_w
                    if 0 <= h_out < height and 0 <= w_out < width:
                        yield h, w, hi * w_mask + wi, h_out, w_out


def forward(x: np.ndarray, psa_type: int, h_mask: int, w_mask: int) -> np.ndarray:
    """Y [N, H, W, H*W] of x [N, H, W, h_mask*w_mask]."""
    batch, height, width, _ = x.shape
    y = np.zeros((batch, height, width, height * width), x.dtype)
    for h, w, cell, h_out, w_out in _cells(height, width, h_mask, w_mask):
        if psa_type == COLLECT:
            y[:, h, w, h_out * width + w_out] = x[:, h, w, cell]
        else:
            y[:, h_out, w_out, h * width + w] = x[:, h, w, cell]
    return y


def backward(dy: np.ndarray, psa_type: int, h_mask: int, w_mask: int) -> np.ndarray:
    """Dx [N, H, W, h_mask*w_mask] of dy [N, H, W, H*W]: the same movement the other way."""
    batch, height, width, _ = dy.shape
    dx = np.zeros((batch, height, width, h_mask * w_mask), dy.dtype)
    for h, w, cell, h_out, w_out in _cells(height, width, h_mask, w_mask):
        if psa_type == COLLECT:
            dx[:, h, w, cell] = dy[:, h, w, h_out * width + w_out]
        else:
            dx[:, h, w, cell] = dy[:, h_out, w_out, h * width + w]
    return dx


def _slices(height: int, width: int, h_mask: int, w_mask: int) -> Iterator[tuple[Any, ...]]:
    """Yields (cell, rows h, columns w, rows h', columns w') for every mask cell, as slices of equal lengths."""
    half_h, half_w = (h_mask - 1) >> 1, (w_mask - 1) >> 1
    for hi in range(h_mask):
        for wi in range(w_mask):
            down, right = hi - half_h, wi - half_w
            rows = slice(max(0, -down), min(height, height - down))
            columns = slice(max(0, -right), min(width, width - right))
            if rows.start < rows.stop and columns.start < columns.stop:
                moved = slice(rows.start + down, rows.stop + down), slice(columns.start + right, columns.stop + right)
                yield hi * w_mask + wi, rows, columns, *moved


def _meeting(psa_type: int, width: int, rows: slice, columns: slice, rows_: slice, columns_: slice) -> Any:
    """Index into a map [N, H, W, H*W]: where positions rows x columns meet rows_ x columns_, one by one."""
    h, w = np.arange(rows.start, rows.stop)[:, None], np.arange(columns.start, columns.stop)[None]
    h_out, w_out = np.arange(rows_.start, rows_.stop)[:, None], np.arange(columns_.start, columns_.stop)[None]
    place = (h, w, h_out * width + w_out) if psa_type == COLLECT else (h_out, w_out, h * width + w)
    return slice(None), *place


def forward_by_cell(x: np.ndarray, psa_type: int, h_mask: int, w_mask: int) -> np.ndarray:
    """The result of :func:`forward`."""
    batch, height, width, _ = x.shape
    y = np.zeros((batch, height, width, height * width), x.dtype)
    for cell, rows, columns, *moved in _slices(height, width, h_mask, w_mask):
        y[_meeting(psa_type, width, rows, columns, *moved)] = x[:, rows, columns, cell]
    return y


def backward_by_cell(dy: np.ndarray, psa_type: int, h_mask: int, w_mask: int) -> np.ndarray:
    """The result of :func:`backward`."""
    batch, height, width, _ = dy.shape
    dx = np.zeros((batch, height, width, h_mask * w_mask), dy.dtype)
    for cell, rows, columns, *moved in _slices(height, width, h_mask, w_mask):
        dx[:, rows, columns, cell] = dy[_meeting(psa_type, width, rows, columns, *moved)]
    return dx


def in_double(name: str, array: np.ndarray, psa_type: int, h_mask: int, w_mask: int) -> np.ndarray:
    """The results of an operator for float64 arrays and the scalars of the description."""
    move = forward if name == "psamask_forward" else backward
    return move(array, psa_type, h_mask, w_mask)


#: A call on a few values has one phase, and so does not look at the clock.
ONE_PHASE = True


def ways(size: int) -> Iterator[Way]:
    """Both types, on squares and on wide maps, and with lines that begin with many zeros."""
    side = int((1000 * size) ** 0.25) + 1
    for name, kind in itertools.product(("psamask_forward", "psamask_backward"), ("collect", "distribute")):
        zeros = [(6, 401, 1, 1)] if size >= 400 else []  # enough for a check of interrupts in their middle
        for height, width, h_mask, w_mask in ((side, side, side, side), (2, side * 3, 3, side * 6), *zeros):
            sizes = {"N": 1, "H": height, "W": width, "h_mask": h_mask, "w_mask": w_mask}
            yield Way(name, f"{kind}, {height} x {width}", sizes, {"psa_type": kind})


def endless() -> Iterator[Way]:
    """Maps and masks of two billion values: square, a single line, and masks of a single pixel."""
    squares, line = (
        {"H": 200, "W": 210, "h_mask": 200, "w_mask": 210},
        {"H": 1, "W": 44000, "h_mask": 1, "w_mask": 44000},
    )
    for kind, name in itertools.product(("collect", "distribute"), ("psamask_forward", "psamask_backward")):
        for sizes in (squares, line):
            yield Way(name, kind, {"N": 1, **sizes}, {"psa_type": kind}, huge=True)
        if name == "psamask_backward":
            pixel = {"N": 1, "H": 1, "W": 1, "h_mask": 45000, "w_mask": 45000}
            yield Way(name, kind, pixel, {"psa_type": kind}, huge=True)


# Every refusal is BAD_PARAM, that of strides too.
_REFUSALS = Refusals(statuses={"packed": BAD_PARAM}, empty={"N": "", "H": "", "W": ""})
REFUSALS = {"mluOpPsamaskForward": _REFUSALS, "mluOpPsamaskBackward": _REFUSALS}
