"""Prior boxes of the cells of a feature map, as SSD detectors have them (arXiv:1512.02325)."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from pymluops._core import Operator, leading_dim
from pymluops.ops._schema import FLOAT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["prior_box"]

_ANY = -(2**31)


def _operator(maxima: str, boxes: str, *numbers: Scalar) -> Operator:
    return Operator(
        "mluOpPriorBox",
        "prior_box",
        (
            Tensor("min_sizes", FLOAT32, "Nm", positive="Nm"),
            Tensor("aspect_ratios", "min_sizes", "Na", positive="Na", rules=("K == Na+1",) if numbers else ()),
            Tensor("variances", "min_sizes", "4"),
            Tensor("max_sizes", "min_sizes", maxima),
            Tensor("out", "min_sizes", f"height width {boxes} 4", output=True, parameter="output"),
            Tensor("var", "min_sizes", f"height width {boxes} 4", output=True),
        ),
        (
            Scalar("height", minimum=0),
            Scalar("width", minimum=0),
            Scalar("im_height", minimum=_ANY),
            Scalar("im_width", minimum=_ANY),
            Scalar("step_h", minimum=0, above=True, infinite=True),
            Scalar("step_w", minimum=0, above=True, infinite=True),
            Scalar("offset", infinite=True, nan=True),
            Scalar("clip"),
            Scalar("min_max_aspect_ratios_order"),
            *numbers,
        ),
    )


# K boxes of each size: one for each ratio, and one more for its largest size.
_BOXES = _operator("Nm", "K*Nm", Scalar("boxes_of_a_size", symbol="K"))


@functools.cache
def _without_maxima() -> Operator:
    """Return the operator for sizes that have a box for each ratio alone."""
    return _operator("0", "Nm*Na")


def prior_box(
    min_sizes: Array,
    aspect_ratios: Array,
    variances: Array,
    max_sizes: Array,
    height: int,
    width: int,
    im_height: int,
    im_width: int,
    step_h: float,
    step_w: float,
    offset: float = 0.5,
    clip: bool = False,
    min_max_aspect_ratios_order: bool = True,
    *,
    out: Any = None,
    var: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Find boxes of given sizes about the centre of each cell of a map.

    The centre of the cell in column i of row j is ``((i + offset) * step_w, (j + offset) *
    step_h)``. Its boxes have these widths and heights, for each size s in order:

    - with `min_max_aspect_ratios_order` s and s; with the m of `max_sizes` that belongs to s,
      sqrt(s * m) and sqrt(s * m); then s * sqrt(r) and s / sqrt(r) for each ratio r but those that
      differ from 1 by less than 1e-6
    - else s * sqrt(r) and s / sqrt(r) for each ratio r, then sqrt(s * m) and sqrt(s * m)

    Parameters
    ----------
    min_sizes : array, shape [Nm], float32
        Sizes of boxes in pixels of the image, at least one.
    aspect_ratios : array, shape [Na], like `min_sizes`
        Widths divided by heights, at least one. With `min_max_aspect_ratios_order` one of them is
        to be 1: with none, boxes without room are left out; with several, the last boxes are 0.
    variances : array, shape [4], like `min_sizes`
        What each box has as its variances.
    max_sizes : array, shape [Nm] or [0], like `min_sizes`
        Larger sizes, or none.
    height, width : int
        Cells of the map.
    im_height, im_width : int
        Size of the image, which coordinates are divided by.
    step_h, step_w : float
        Pixels of the image along a cell, > 0.
    offset : float
        Where in its cell a centre is, as a part of the cell.
    clip : bool
        Limit coordinates to 0 to 1.
    min_max_aspect_ratios_order : bool
        The order of the boxes.
    out : array or DeviceArray, optional
        Where to write the boxes, shape [height, width, P, 4], like `min_sizes`.
    var : array or DeviceArray, optional
        Where to write the variances, like `out`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    out : array or DeviceArray
        x1, y1, x2, y2 as parts of the image, shape [height, width, P, 4]; P is Nm * Na, with
        `max_sizes` Nm * (Na + 1).
    var : array or DeviceArray
        The variances of each box, like `out`.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Liu et al.: SSD: Single Shot MultiBox Detector. 2016, arXiv:1512.02325.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> sizes, ratios, none = np.float32([4]), np.float32([1, 4]), np.float32([])
    >>> boxes, _ = pymluops.prior_box(sizes, ratios, np.float32([1, 1, 2, 2]), none, 1, 1, 8, 8, 8, 8)
    >>> boxes[0, 0].tolist()
    [[0.25, 0.25, 0.75, 0.75], [0.0, 0.375, 1.0, 0.625]]
    """
    numbers = (height, width, im_height, im_width, step_h, step_w, offset, clip, min_max_aspect_ratios_order)
    arrays = (min_sizes, aspect_ratios, variances, max_sizes, out, var)
    if leading_dim(max_sizes) == 0:
        return _without_maxima()(handle, arrays, numbers)
    return _BOXES(handle, arrays, (*numbers, leading_dim(aspect_ratios) + 1))
