"""Suppression of rotated boxes that overlap one with a higher score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator
from pymluops.ops._schema import FLOAT32, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["nms_rotated"]

_SUPPRESSION = Operator(
    "mluOpNmsRotated",
    "nms_rotated",
    (
        Tensor("boxes", FLOAT32, "N D", rules=("D in 5 6",)),
        Tensor("scores", "boxes", "N"),
        Tensor("out", INT32, "N", output=True, zeroed=True, parameter="output"),
        Tensor("result_num", INT32, "1", output=True, zeroed=True),
    ),
    (Scalar("iou_threshold", infinite=True, nan=True),),
    workspace="mluOpGetNmsRotatedWorkspaceSize",
)


def nms_rotated(boxes: Array, scores: Array, iou_threshold: float, *, handle: Handle | None = None) -> Any:
    """Keep the boxes that no kept box with a higher score overlaps too much.

    From the highest score down, each box that is left is kept, and suppresses all others whose
    intersection with it, divided by their union, is above `iou_threshold`. A box without an area
    overlaps no other one. Of equal scores the first one counts as higher. A box with a score of
    minus infinity or NaN is neither kept nor suppresses others.

    Parameters
    ----------
    boxes : array, shape [N, 5] or [N, 6], float32
        Boxes: x and y of the centre, width, height, and the angle in radians; a sixth column is not
        looked at. To suppress within classes only, move the boxes of each class far from the
        others.
    scores : array, shape [N], like `boxes`
        Their scores.
    iou_threshold : float
        The largest overlap allowed. Below 0 only one box is kept; with NaN all of them are.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        Numbers of the kept boxes in the order of their scores, int32, of the kind of the first
        argument.

    Raises
    ------
    BadParamError
        If an argument is not as described. N may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> boxes = np.array([[0, 0, 4, 2, 0], [0, 0, 4, 2, 0.1], [9, 0, 4, 2, 0]], np.float32)
    >>> pymluops.nms_rotated(boxes, np.array([0.5, 0.8, 0.6], np.float32), 0.5).tolist()
    [1, 2]
    """
    kept, count = _SUPPRESSION(handle, (boxes, scores, None, None), (iou_threshold,))
    return kept[: int(count[0])]
