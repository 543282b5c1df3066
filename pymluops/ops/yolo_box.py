"""Boxes and scores from the output of a YOLOv3 head (arXiv:1804.02767)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator
from pymluops.ops._schema import FLOAT32, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["yolo_box"]

_BOXES = Operator(
    "mluOpYoloBox",
    "yolo_box",
    (
        Tensor("x", FLOAT32, "N C H W"),
        Tensor("img_size", INT32, "N 2"),
        Tensor("anchors", INT32, "2*S", positive="S"),
        Tensor("boxes", "x", "N S 4 H*W", output=True),
        Tensor("scores", "x", "N S class_num H*W", output=True),
    ),
    (
        Scalar("class_num"),
        Scalar("conf_thresh", infinite=True, nan=True),
        Scalar("downsample_ratio"),
        Scalar("clip_bbox"),
        Scalar("scale", infinite=True, nan=True),
        Scalar("iou_aware"),
        Scalar("iou_aware_factor", infinite=True, nan=True),
    ),
)


def yolo_box(
    x: Array,
    img_size: Array,
    anchors: Array,
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    scale: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
    *,
    boxes: Any = None,
    scores: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Find a box and its scores for each anchor in each cell of a map.

    With s the logistic function and the planes tx, ty, tw, th, confidence and classes of anchor a
    in column i of row j::

        conf = s(confidence), or s(confidence)**(1 - f) * s(overlap)**f with iou_aware
        x = (i + s(tx) * scale - (scale - 1) / 2) * image_width / W
        w = exp(tw) * anchor_width * image_width / (downsample_ratio * W)
        box = x - w/2, y - h/2, x + w/2, y + h/2
        scores[k] = conf * s(class k)

    and y, h likewise. Box and scores are 0 where conf is below `conf_thresh`.

    Parameters
    ----------
    x : array, shape [N, S*(5 + class_num), H, W], float32
        The output of the network: for each anchor its planes. With `iou_aware` [N, S*(6 +
        class_num), H, W]: the overlaps of all anchors come first.
    img_size : array, shape [N, 2], int32
        Height and width of the images in pixels.
    anchors : array, shape [2*S], int32
        Width and height of each anchor in pixels.
    class_num : int
        Number of classes, >= 1.
    conf_thresh : float
        The least confidence. A confidence of NaN is kept.
    downsample_ratio : int
        Pixels of the network's input along a cell, >= 1.
    clip_bbox : bool
        Let x and y of the first corner be at least 0, those of the last one at most the size of
        the image less 1.
    scale : float
        Range of the centre around the middle of its cell, in cells.
    iou_aware : bool
        Whether there are overlaps.
    iou_aware_factor : float
        f, 0 to 1.
    boxes : array or DeviceArray, optional
        Where to write the boxes, shape [N, S, 4, H*W], like `x`.
    scores : array or DeviceArray, optional
        Where to write the scores, shape [N, S, class_num, H*W], like `x`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    boxes : array or DeviceArray
        x1, y1, x2, y2 in pixels of the image, shape [N, S, 4, H*W].
    scores : array or DeviceArray
        Shape [N, S, class_num, H*W].

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Redmon, Farhadi: YOLOv3: An Incremental Improvement. 2018, arXiv:1804.02767.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> x = np.zeros((1, 6, 1, 1), np.float32)
    >>> image, anchors = np.array([[10, 20]], np.int32), np.array([8, 4], np.int32)
    >>> boxes, scores = pymluops.yolo_box(x, image, anchors, 1, 0.1, 16)
    >>> boxes.ravel().tolist(), scores.ravel().tolist()
    ([5.0, 3.75, 15.0, 6.25], [0.25])
    """
    numbers = (class_num, conf_thresh, downsample_ratio, clip_bbox, scale, iou_aware, iou_aware_factor)
    return _BOXES(handle, (x, img_size, anchors, boxes, scores), numbers)
