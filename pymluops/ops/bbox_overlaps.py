"""How much upright boxes overlap: intersection over union, or over the first box."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from pymluops._arguments import flag
from pymluops._core import Operator, leading_dim
from pymluops.ops._schema import FLOATS, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["bbox_overlaps"]

# Boxes have four columns, unless there are none.
_FIRST = Tensor("bbox1", FLOATS, "N P", rules=("N*P == 4*N",))
_SCALARS = (
    Scalar("mode", choices={"iou": 0, "iof": 1}),
    Scalar("aligned"),
    Scalar("offset", minimum=0, maximum=1),
)

_PAIRS = Operator(
    "mluOpBboxOverlaps",
    "bbox_overlaps",
    (
        _FIRST,
        Tensor("bbox2", "bbox1", "M Q", rules=("M*Q == 4*M",)),
        Tensor("out", "bbox1", "N M", output=True, parameter="ious"),
    ),
    _SCALARS,
)


@functools.cache
def aligned_operator(shape: str = "N") -> Operator:
    """Return the operator for boxes in the same rows; without boxes the C function wants a result of shape "N 1"."""
    second = Tensor("bbox2", "bbox1", "N Q", rules=("N*Q == 4*N",))
    out = Tensor("out", "bbox1", shape, output=True, parameter="ious")
    return Operator("mluOpBboxOverlaps", "bbox_overlaps", (_FIRST, second, out), _SCALARS)


def bbox_overlaps(
    bbox1: Array,
    bbox2: Array,
    mode: int | str = "iou",
    aligned: bool = False,
    offset: int = 0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Divide the area that two upright boxes have in common by that of both together, or of the first one.

    The divisor is at least `offset`, so that with 0 the result of two boxes without an area is NaN.

    Parameters
    ----------
    bbox1 : array, shape [N, 4], float32 or float16
        Boxes: x1, y1, x2, y2.
    bbox2 : array, shape [M, 4], like `bbox1`
        The other boxes.
    mode : {"iou", "iof"}, or 0, 1
        Divide by the area of both boxes together, or by that of the one in `bbox1`.
    aligned : bool
        Compare the boxes in the same rows, N = M of them; else all pairs.
    offset : {0, 1}
        What is added to widths and heights; 1 where corners are pixels that belong to the box.
    out : array or DeviceArray, optional
        Where to write, shape [N, M], or [N] if `aligned`, like `bbox1`; it must not overlap an
        input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of the kind of the first argument. N and M may be 0.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> boxes = np.array([[0, 0, 4, 2], [2, 0, 4, 2], [9, 0, 13, 2]], np.float32)
    >>> pymluops.bbox_overlaps(boxes[:1], boxes).tolist()
    [[1.0, 0.5, 0.0]]
    """
    same_rows = flag(_PAIRS, "aligned", aligned)
    scalars = (mode, same_rows, offset)
    if same_rows and out is None and leading_dim(bbox1) == 0:
        return aligned_operator("N 1")(handle, (bbox1, bbox2, None), scalars)[:, 0]
    return (aligned_operator() if same_rows else _PAIRS)(handle, (bbox1, bbox2, out), scalars)
