"""How much rotated boxes overlap: intersection over union, or over the first box."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from pymluops._arguments import flag
from pymluops._core import Operator
from pymluops.ops._schema import FLOAT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["box_iou_rotated"]

# Boxes have five columns, unless there are none.
_FIRST = Tensor("bbox1", FLOAT32, "N P", rules=("N*P == 5*N",))
_SCALARS = (Scalar("mode", choices={"iou": 0, "iof": 1}), Scalar("aligned"))

_PAIRS = Operator(
    "mluOpBoxIouRotated",
    "box_iou_rotated",
    (
        _FIRST,
        Tensor("bbox2", "bbox1", "M Q", rules=("M*Q == 5*M",)),
        Tensor("out", "bbox1", "N M", output=True, parameter="ious"),
    ),
    _SCALARS,
)


@functools.cache
def aligned_operator() -> Operator:
    """Return the operator for boxes in the same rows."""
    second = Tensor("bbox2", "bbox1", "N Q", rules=("N*Q == 5*N",))
    out = Tensor("out", "bbox1", "N", output=True, parameter="ious")
    return Operator("mluOpBoxIouRotated", "box_iou_rotated", (_FIRST, second, out), _SCALARS)


def box_iou_rotated(
    bbox1: Array,
    bbox2: Array,
    mode: int | str = "iou",
    aligned: bool = False,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Divide the area that two rotated boxes have in common by that of both together, or of the first one.

    Areas are computed in float64 and are right also where boxes nearly coincide: relative to the
    smaller box, the error is about 1e-16 times the longest side of both boxes by the shortest one.
    Identical boxes give 1, and the order of the boxes changes nothing. A box that has no area or a
    number that is not finite overlaps no other one; two negative sides are as good as positive
    ones.

    Parameters
    ----------
    bbox1 : array, shape [N, 5], float32
        Boxes: x and y of the centre, width, height, and the angle in radians.
    bbox2 : array, shape [M, 5], like `bbox1`
        The other boxes.
    mode : {"iou", "iof"}, or 0, 1
        Divide by the area of both boxes together, or by that of the one in `bbox1`.
    aligned : bool
        Compare the boxes in the same rows, N = M of them; else all pairs.
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
    >>> boxes = np.array([[0, 0, 4, 2, 0], [1, 0, 2, 2, 0], [0, 0, 4, 2, np.pi / 2]], np.float32)
    >>> pymluops.box_iou_rotated(boxes[:1], boxes).astype(float).round(4).tolist()
    [[1.0, 0.5, 0.3333]]
    """
    same_rows = flag(_PAIRS, "aligned", aligned)
    operator = aligned_operator() if same_rows else _PAIRS
    return operator(handle, (bbox1, bbox2, out), (mode, same_rows))
