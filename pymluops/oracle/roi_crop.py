"""roi_crop: bilinear samples of images at the points of grids, zero beside the image, and the gradient of the images.

Region n of R looks at image n // (R // B). A point (y, x) lies at the pixel ((y + 1) * (H - 1) / 2,
(x + 1) * (W - 1) / 2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("roi_crop_forward", "roi_crop_backward")


def _corners(y: Any, x: Any, height: int, width: int) -> Iterator[tuple[int, int, Any] | None]:
    """The pixels around a point with their weights, rows first; None for one beside the image."""
    real = type(y)
    with np.errstate(all="ignore"):
        py, px = (y + real(1)) * real(height - 1) / real(2), (x + real(1)) * real(width - 1) / real(2)
    if not (np.isfinite(py) and np.isfinite(px)):
        return
    top, left = int(np.floor(py)), int(np.floor(px))
    upper, near = real(1) - (py - real(top)), real(1) - (px - real(left))
    for row, along_y in ((top, upper), (top + 1, real(1) - upper)):
        for column, along_x in ((left, near), (left + 1, real(1) - near)):
            inside = 0 <= row < height and 0 <= column < width
            yield (row, column, along_x * along_y) if inside else None


def forward(images: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """[R, h, w, C] of images [B, H, W, C] and grid [R, h, w, 2], in their type, corners added in the order of rows."""
    output = np.zeros((*grid.shape[:3], images.shape[3]), images.dtype)
    for number in np.ndindex(*grid.shape[:3]):
        image = images[number[0] // (len(grid) // len(images))]
        with np.errstate(all="ignore"):
            terms = [
                np.zeros_like(output[number]) if corner is None else corner[2] * image[corner[0], corner[1]]
                for corner in _corners(*grid[number], *image.shape[:2])
            ]
            if terms:
                output[number] = ((terms[0] + terms[1]) + terms[2]) + terms[3]
    return output


def backward(
    grad_output: np.ndarray, grid: np.ndarray, batch: int, size: tuple[int, int], real: type = np.float64
) -> np.ndarray:
    """[B, H, W, C], added up in `real` in the order of the points; weights have the type of the grid."""
    result = np.zeros((batch, *size, grad_output.shape[3]), real)
    for number in np.ndindex(*grid.shape[:3]):
        image = result[number[0] // (len(grid) // batch)]
        with np.errstate(all="ignore"):
            for corner in _corners(*grid[number], *size):
                if corner is not None:
                    image[corner[0], corner[1]] += grad_output[number].astype(real) * real(corner[2])
    return result


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let most points lie on the map, and some of them beside it."""
    grid = arguments["grid"]
    grid[...] = rng.uniform(-1.3, 1.3, grid.shape)


def in_double(name: str, *given: Any) -> np.ndarray:
    """The results of an operator for float64 arrays and the scalars of the description."""
    if name == "roi_crop_forward":
        return forward(*given)
    grad_output, grid, batch, height, width = given
    return backward(grad_output, grid, batch, (height, width))


#: A call on a few values has one phase, and so does not look at the clock.
ONE_PHASE = True


def ways(size: int) -> Iterator[Way]:
    """Many points, and many channels."""
    for name in ("roi_crop_forward", "roi_crop_backward"):
        few = {"B": 2, "H": 9, "W": 7, "R": 4, "rows": 16, "columns": size // 8 + 1}
        yield Way(name, "few channels", {**few, "C": 5})
        many = {"B": 1, "H": 4, "W": 5, "R": 2, "rows": 2, "columns": 3}
        yield Way(name, "many channels", {**many, "C": size * 20 + 3})


def endless() -> Iterator[Way]:
    """Two billion channels."""
    sizes = {"B": 1, "H": 1, "W": 1, "R": 1, "rows": 1, "columns": 1, "C": 2_000_000_000}
    for name in ("roi_crop_forward", "roi_crop_backward"):
        yield Way(name, "two billion channels", sizes, huge=True)


_REFUSALS = Refusals(order="handle objects types ranks layouts packed shapes indexable positive data overlap")
REFUSALS = {"mluOpRoiCropForward": _REFUSALS, "mluOpRoiCropBackward": _REFUSALS}
