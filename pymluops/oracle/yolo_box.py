"""yolo_box: boxes and scores from the output of a YOLOv3 head, in float64."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Check, Refusals, bad
from pymluops.oracle.ways import Way

#: Both depend on a flag, which the description cannot say.
LEFT_TO_C = ("x_desc", "iou_aware_factor")
#: Values that a device may round in its own way.
SUMS = ("yolo_box",)


def _logistic(x: np.ndarray) -> np.ndarray:
    small = np.exp(-np.abs(x))
    return np.where(np.isnan(x), x, np.where(x < 0, small, 1) / (1 + small))


def _power(base: np.ndarray, exponent: float) -> np.ndarray:
    return np.power(base, exponent)


def boxes(
    x: np.ndarray,
    img_size: np.ndarray,
    anchors: np.ndarray,
    classes: int,
    threshold: float,
    downsample: int,
    clip: bool,
    scale: float,
    iou_aware: bool,
    factor: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Boxes [N, S, 4, H * W], scores [N, S, K, H * W], and the confidences [N, S, H * W]."""
    batch, _, height, width = x.shape
    count = len(anchors) // 2
    values = x.astype(np.float64)
    with np.errstate(all="ignore"):
        overlap = values[:, :count] if iou_aware else None
        planes = values[:, count if iou_aware else 0 :].reshape(batch, count, 5 + classes, height, width)
        confidence = _logistic(planes[:, :, 4])
        if overlap is not None:
            confidence = _power(confidence, 1 - factor) * _power(_logistic(overlap), factor)
        image = img_size.astype(np.float64)[:, :, None, None, None]
        bias = -0.5 * (scale - 1)
        centre_x = (np.arange(width) + _logistic(planes[:, :, 0]) * scale + bias) * image[:, 1] / width
        centre_y = (np.arange(height)[:, None] + _logistic(planes[:, :, 1]) * scale + bias) * image[:, 0] / height
        sides = anchors.astype(np.float64).reshape(1, count, 2, 1, 1)
        box_w = np.exp(planes[:, :, 2]) * sides[:, :, 0] * image[:, 1] / (downsample * width)
        box_h = np.exp(planes[:, :, 3]) * sides[:, :, 1] * image[:, 0] / (downsample * height)
        corners = [centre_x - box_w / 2, centre_y - box_h / 2, centre_x + box_w / 2, centre_y + box_h / 2]
        if clip:
            corners[:2] = [np.where(corner < 0, 0, corner) for corner in corners[:2]]
            for k, side in ((2, 1), (3, 0)):
                corners[k] = np.where(corners[k] > image[:, side] - 1, image[:, side] - 1, corners[k])
        kept = ~(confidence < threshold)
        found = np.where(kept[:, :, None], np.stack(corners, 2), 0)
        scores = np.where(kept[:, :, None], confidence[:, :, None] * _logistic(planes[:, :, 5:]), 0)
    cells = height * width
    return (
        found.reshape(batch, count, 4, cells),
        scores.reshape(batch, count, classes, cells),
        confidence.reshape(batch, count, cells),
    )


def in_double(_name: str, *given: Any) -> Any:
    """The results for float64 values."""
    return boxes(*given)[:2]


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let there be as many channels as the anchors and classes ask for, and confidences far from the threshold."""
    x, count = arguments["x"], len(arguments["anchors"]) // 2
    channels = count * ((6 if arguments["iou_aware"] else 5) + arguments["class_num"])
    shape = (x.shape[0], channels, *x.shape[2:])
    arguments["x"] = rng.normal(0, 2, shape).astype(x.dtype)
    arguments["img_size"][...] = rng.integers(20, 900, arguments["img_size"].shape)
    arguments["anchors"][...] = rng.integers(1, 60, arguments["anchors"].shape)
    arguments["conf_thresh"], arguments["iou_aware_factor"] = 0.0, 0.25


def ways(size: int) -> Iterator[Way]:
    """Wide rows and narrow ones."""
    scalars = {"conf_thresh": 0.0, "downsample_ratio": 8, "clip_bbox": True, "scale": 1.05, "iou_aware_factor": 0.5}
    for aware in (False, True):
        more = {**scalars, "iou_aware": aware}
        yield Way("yolo_box", "wide", {"N": 1, "S": 2, "H": 3, "W": 20 * size, "class_num": 3}, more, change=prepare)
        yield Way("yolo_box", "narrow", {"N": 2, "S": 3, "H": 5 * size, "W": 3, "class_num": 5}, more, change=prepare)


def _checks(problem: Any, _sizes: Mapping[str, int]) -> dict[str, list[Check]]:
    values = problem.values
    aware, factor = bool(values.get("iou_aware")), values.get("iou_aware_factor", 0.0)
    dims, anchors = (problem.tensors[name].dims or () for name in ("x", "anchors"))
    found = {"factor": [bad(not aware or not (factor < 0 or factor > 1), "iou_aware_factor")]}
    if len(dims) == 4 and len(anchors) == 1:
        wanted = anchors[0] // 2 * ((6 if aware else 5) + values["class_num"])
        found["channels"] = [bad(dims[1] == wanted, "x_desc", "anchors_desc")]
    return found


REFUSALS = {
    "mluOpYoloBox": Refusals(
        order="handle objects ranks types factor scalars shapes channels positive indexable data packed overlap",
        checks=_checks, empty={"N": "", "H": "", "W": ""},
    )
}  # fmt: skip
