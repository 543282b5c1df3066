"""masked_im2col and masked_col2im: windows around cells of a map as columns, and columns back to cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way


def im2col(
    feature: np.ndarray, rows: np.ndarray, columns: np.ndarray, kernel: tuple[int, int], padding: tuple[int, int]
) -> np.ndarray:
    """[C * kh * kw, K], 0 beside the map."""
    _, channels, height, width = feature.shape
    result = np.zeros((channels, *kernel, len(rows)), feature.dtype)
    for i, j, k in np.ndindex(*kernel, len(rows)):
        y, x = int(rows[k]) - padding[0] + i, int(columns[k]) - padding[1] + j
        if 0 <= y < height and 0 <= x < width:
            result[:, i, j, k] = feature[0, :, y, x]
    return result.reshape(-1, len(rows))


def col2im(col: np.ndarray, rows: np.ndarray, columns: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """[1, C, H, W], 0 where there is no column."""
    result = np.zeros((1, len(col), *size), col.dtype)
    for k, (y, x) in enumerate(zip(rows, columns, strict=True)):
        if 0 <= y < size[0] and 0 <= x < size[1]:
            result[0, :, y, x] = col[:, k]
    return result


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let most cells lie on the map, and some of them beside it."""
    size = arguments["feature"].shape[2:] if "feature" in arguments else arguments["feature_size"]
    for name, extent in zip(("mask_h_idx", "mask_w_idx"), size, strict=True):
        arguments[name][...] = rng.integers(-1, extent + 1, arguments[name].shape)


def in_double(name: str, *given: Any) -> np.ndarray:
    """The results for float64 arrays and the scalars of the description."""
    if name == "masked_im2col_forward":
        feature, rows, columns, kernel_h, kernel_w, pad_h, pad_w = given
        return im2col(feature, rows, columns, (kernel_h, kernel_w), (pad_h, pad_w))
    col, rows, columns, height, width = given
    return col2im(col, rows, columns, (height, width))


def ways(size: int) -> Iterator[Way]:
    """Many channels, many cells, and large maps."""
    kernel = {"kernel_h": 3, "kernel_w": 2, "pad_h": 1, "pad_w": 0}
    cells = {"C": 3, "H": 9, "W": 8, "K": 40 * size}
    yield Way("masked_im2col_forward", "many cells", {**cells, **kernel}, change=prepare)
    channels = {"C": 20 * size, "H": 5, "W": 4, "K": 8}
    yield Way("masked_im2col_forward", "many channels", {**channels, **kernel}, change=prepare)
    yield Way("masked_col2im_forward", "many channels", channels, change=prepare)
    yield Way("masked_col2im_forward", "large map", {"C": 2, "H": 25 * size, "W": 20, "K": 9}, change=prepare)


_SIZE = Refusals(order="handle objects pointer")
REFUSALS = {
    "mluOpMaskedIm2colForward": Refusals(
        order="handle objects layouts types ranks scalars shapes packed indexable positive data workspace overlap",
        layouts={"feature": ("NCHW",)},
        empty={"K": ""},
        needs_workspace=False,
    ),
    "mluOpGetMaskedIm2colForwardWorkspaceSize": _SIZE,
    "mluOpMaskedCol2imForward": Refusals(
        order="handle objects ranks layouts types shapes packed indexable positive data workspace overlap",
        layouts={"im": ("NCHW",)},
        empty={"K": "im"},
        needs_workspace=False,
    ),
    "mluOpGetMaskedCol2imForwardWorkspaceSize": _SIZE,
}
