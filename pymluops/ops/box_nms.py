"""Suppression of boxes that overlap one with a higher score: hard, soft (arXiv:1704.04503), and in groups."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from pymluops._arguments import choice, integer
from pymluops._core import Operator, SettingsDescriptor, leading_dim
from pymluops.enums import DataType
from pymluops.ops._schema import FLOAT32, FLOATS, INT32, Pairs, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Backend, Handle
    from pymluops._typing import Array

__all__ = ["nms", "nms2d", "nms_match", "soft_nms"]

_BOX_MODES = {"corners": 0, "centre": 1}
_OUTPUT_MODES = {"indices": 0, "rows": 1, "planes": 2}
_METHODS = {"naive": 0, "linear": 1, "gaussian": 2}
_OUTPUT_SIZE = Tensor("output_size", INT32, "1", output=True, zeroed=True)
_RESULT_NUM = Tensor("result_num", INT32, "1", output=True, zeroed=True)
_THRESHOLD = Scalar("iou_threshold", infinite=True, nan=True)
_OFFSET = Scalar("offset", minimum=0, maximum=1)

#: Scores may have less precision than boxes.
_SCORES = Pairs(
    "boxes", ((DataType.FLOAT, DataType.FLOAT), (DataType.FLOAT, DataType.HALF), (DataType.HALF, DataType.HALF))
)

_NMS = Operator(
    "mluOpNms",
    "nms",
    (
        Tensor("boxes", FLOATS, "N 4"),
        Tensor("confidence", _SCORES, "N"),
        Tensor("out", (DataType.INT32, DataType.UINT32), "M", output=True, zeroed=True, parameter="output"),
        _OUTPUT_SIZE,
    ),
    (Scalar("max_output_size", symbol="M", minimum=0),),
    workspace="mluOpGetNmsWorkspaceSize",
)
_NMS_2D = Operator(
    "mluopsExtNms2d",
    "nms2d",
    (
        Tensor("boxes", FLOAT32, "N 4"),
        Tensor("scores", "boxes", "N"),
        Tensor("out", INT32, "N", output=True, zeroed=True, parameter="output"),
        _RESULT_NUM,
    ),
    (_THRESHOLD, _OFFSET),
)
_NMS_MATCH = Operator(
    "mluopsExtNmsMatch",
    "nms_match",
    (
        Tensor("dets", FLOAT32, "N 5"),
        Tensor("matches", INT32, "N", output=True),
        Tensor("order", INT32, "N", output=True),
    ),
    (_THRESHOLD,),
)
_SOFT_NMS = Operator(
    "mluopsExtSoftNms",
    "soft_nms",
    (
        Tensor("boxes", FLOAT32, "N 4"),
        Tensor("scores", "boxes", "N"),
        Tensor("dets", "boxes", "N 5", output=True, zeroed=True),
        Tensor("out", INT32, "N", output=True, zeroed=True, parameter="output"),
        _RESULT_NUM,
    ),
    (
        _THRESHOLD,
        Scalar("sigma", infinite=True, nan=True),
        Scalar("min_score", infinite=True, nan=True),
        Scalar("method", choices=_METHODS),
        _OFFSET,
    ),
)


@functools.cache
def _with_values(mode: str) -> Operator:
    """Return the operator whose result has scores and boxes."""
    shape = "M 5" if mode == "rows" else "5 M"
    out = Tensor("out", "boxes", shape, output=True, zeroed=True, parameter="output")
    tensors = (*_NMS.tensors[:2], out, _OUTPUT_SIZE)
    return Operator(_NMS.function, _NMS.name, tensors, _NMS.scalars, workspace=_NMS.workspace)


class _Settings(SettingsDescriptor):
    """Settings of one call."""

    def __init__(self, backend: Backend, modes: tuple[int, int], limits: tuple[Any, ...], offset: int) -> None:
        self._create("Nms", backend)
        box_mode, output_mode = modes
        threshold, most, least = limits
        hard, no_sigma, rows = 0, 0.0, 0
        including = offset
        self._set(
            "mluOpSetNmsDescriptor",
            *(box_mode, output_mode, including, hard, threshold, no_sigma, most, least, offset, rows, False),
        )


def nms(
    boxes: Array,
    confidence: Array,
    iou_threshold: float,
    max_output_size: int | None = None,
    confidence_threshold: float = 0.0,
    *,
    box_mode: int | str = "corners",
    output_mode: int | str = "indices",
    offset: int = 0,
    handle: Handle | None = None,
) -> Any:
    """Pick the boxes that no picked box with a higher score overlaps too much, as ``mluOpNms`` does.

    From the highest score down, as long as it is above `confidence_threshold`, each box that is
    left is picked, and suppresses all others whose intersection with it, divided by their union, is
    above `iou_threshold`. Of equal scores the first one counts as higher. A box with a NaN overlaps
    no other box, and a box with a score of NaN is not picked. `pymluops.functions.mluOpNms` takes
    boxes of several batches and classes, and boxes in space, too.

    Parameters
    ----------
    boxes : array, shape [N, 4], float32 or float16
        Boxes: two opposite corners, or centre and size.
    confidence : array, shape [N], like `boxes`, or float16
        Their scores.
    iou_threshold : float
        The largest overlap allowed.
    max_output_size : int, optional
        The most boxes that are picked; without it all of them may be.
    confidence_threshold : float
        The score that a box must exceed, from 0 to 1.
    box_mode : {"corners", "centre"}, or 0, 1
        Whether a box is (x1, y1, x2, y2) or (x, y, width, height).
    output_mode : {"indices", "rows", "planes"}, or 0, 1, 2
        Whether the numbers of the boxes are returned, or scores and boxes.
    offset : {0, 1}
        What is added to widths and heights; 1 where corners are pixels that belong to the box.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        In the order of the scores: numbers [K], int32; rows (score, box), [K, 5]; or the same as
        [5, K]. It is of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described. N may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> boxes = np.array([[0, 0, 4, 2], [1, 0, 5, 2], [9, 0, 13, 2]], np.float32)
    >>> pymluops.nms(boxes, np.array([0.5, 0.8, 0.6], np.float32), 0.5).tolist()
    [1, 2]
    """
    modes = choice(_NMS, "box_mode", box_mode, _BOX_MODES), choice(_NMS, "output_mode", output_mode, _OUTPUT_MODES)
    most = leading_dim(confidence)
    if max_output_size is not None:
        most = min(most, integer(_NMS, "max_output_size", max_output_size))
    offset = integer(_NMS, "offset", offset, 0, 1)
    operator = (_NMS, _with_values("rows"), _with_values("planes"))[modes[1]]
    handle = operator.resolve(handle)
    with _Settings(handle.backend, modes, (iou_threshold, most, confidence_threshold), offset) as settings:
        found, count = operator(handle, (boxes, confidence, None, None), (most,), True, settings)
    return found[:, : int(count[0])] if modes[1] == _OUTPUT_MODES["planes"] else found[: int(count[0])]


def nms2d(boxes: Array, scores: Array, iou_threshold: float, offset: int = 0, *, handle: Handle | None = None) -> Any:
    """Keep the boxes that no kept box with a higher score overlaps too much, whatever their scores.

    From the highest score down, each box that is left is kept, and suppresses all others whose
    intersection with it, divided by their union, is above `iou_threshold`. Of equal scores the
    first one counts as higher. A box with a NaN overlaps no other one. A box with a score of minus
    infinity or NaN is neither kept nor suppresses others.

    Parameters
    ----------
    boxes : array, shape [N, 4], float32
        Boxes: x1, y1, x2, y2.
    scores : array, shape [N], like `boxes`
        Their scores.
    iou_threshold : float
        The largest overlap allowed. With NaN all boxes are kept.
    offset : {0, 1}
        What is added to widths and heights; 1 where corners are pixels that belong to the box.
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
    >>> boxes = np.array([[0, 0, 4, 2], [1, 0, 5, 2], [9, 0, 13, 2]], np.float32)
    >>> pymluops.nms2d(boxes, np.array([-5, -3, -4], np.float32), 0.5).tolist()
    [1, 2]
    """
    kept, count = _NMS_2D(handle, (boxes, scores, None, None), (iou_threshold, offset))
    return kept[: int(count[0])]


def nms_match(
    dets: Array, iou_threshold: float, *, matches: Any = None, order: Any = None, handle: Handle | None = None
) -> tuple[Any, Any]:
    """Tell which kept box each box belongs to.

    From the highest score down, each box that is left is kept, and all others whose intersection
    with it, divided by their union, is at least `iou_threshold` belong to it.

    Parameters
    ----------
    dets : array, shape [N, 5], float32
        Boxes: x1, y1, x2, y2, score. A score of NaN is the highest.
    iou_threshold : float
        The overlap from which on a box belongs to another one.
    matches : array or DeviceArray, optional
        Where to write the result, shape [N], int32; it must not overlap an input.
    order : array or DeviceArray, optional
        Where to write the order, shape [N], int32.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    matches : array, shape [N], int32
        For each box the number of the box that it belongs to, which is its own number if it is
        kept.
    order : array, shape [N], int32
        The numbers of all boxes in the order of their scores; of equal ones the first comes first.

    Raises
    ------
    BadParamError
        If an argument is not as described. N may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> dets = np.array([[0, 0, 4, 2, 0.5], [1, 0, 5, 2, 0.8], [9, 0, 13, 2, 0.6]], np.float32)
    >>> matches, order = pymluops.nms_match(dets, 0.5)
    >>> matches.tolist(), order.tolist()
    ([1, 1, 2], [1, 2, 0])
    """
    result: tuple[Any, Any] = _NMS_MATCH(handle, (dets, matches, order), (iou_threshold,))
    return result


def soft_nms(
    boxes: Array,
    scores: Array,
    iou_threshold: float = 0.3,
    sigma: float = 0.5,
    min_score: float = 1e-3,
    method: int | str = "linear",
    offset: int = 0,
    *,
    handle: Handle | None = None,
) -> tuple[Any, Any]:
    """Pick boxes from the highest score down, and lower the scores of those that a pick overlaps.

    Each pick multiplies the scores of the boxes left, with an overlap of o: by 0 (`method`
    "naive") or 1 - o ("linear") where o is at least `iou_threshold`, or by exp(-o**2 / sigma)
    ("gaussian"). A box whose score is below `min_score` then is dropped, and the last one of those
    left takes its place; of equal scores the first in place counts as higher.

    Parameters
    ----------
    boxes : array, shape [N, 4], float32
        Boxes: x1, y1, x2, y2.
    scores : array, shape [N], like `boxes`
        Their scores.
    iou_threshold : float
        The overlap from which on a score is lowered; "gaussian" does not look at it.
    sigma : float
        The width of "gaussian".
    min_score : float
        The least score of a box after the first pick.
    method : {"naive", "linear", "gaussian"}, or 0, 1, 2
        How scores are lowered.
    offset : {0, 1}
        What is added to widths and heights; 1 where corners are pixels that belong to the box.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    dets : array, shape [K, 5], like `boxes`
        The picked boxes in their order, with the scores that they had then.
    numbers : array, shape [K], int32
        Their numbers.

    Raises
    ------
    BadParamError
        If an argument is not as described. N may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Bodla et al.: Soft-NMS -- Improving Object Detection With One Line of Code. ICCV 2017,
    arXiv:1704.04503.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> boxes = np.array([[0, 0, 4, 2], [0, 0, 4, 4], [9, 0, 13, 2]], np.float32)
    >>> dets, numbers = pymluops.soft_nms(boxes, np.array([0.5, 0.75, 0.625], np.float32))
    >>> numbers.tolist(), dets[:, 4].tolist()
    ([1, 2, 0], [0.75, 0.625, 0.25])
    """
    scalars = (iou_threshold, sigma, min_score, method, offset)
    dets, kept, count = _SOFT_NMS(handle, (boxes, scores, None, None, None), scalars)
    number = int(count[0])
    return dets[:number], kept[:number]
