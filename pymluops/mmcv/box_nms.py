"""nms, softnms and nms_match of mmcv."""

from __future__ import annotations

from typing import Any

from pymluops.mmcv._binding import Row
from pymluops.mmcv._kernels import run
from pymluops.mmcv._tensors import (
    check_floats,
    check_shape,
    compute_type,
    dense,
    extension_function_of,
    refuse,
)
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._described import described

__all__ = ["nms", "nms_match", "softnms"]

ROWS = (
    Row("nms, batched_nms", ("nms",), "forward", "mluopsExtNms2d (float32)", "Of equal scores the first comes first."),
    Row("soft_nms", ("softnms",), "forward", "mluopsExtSoftNms (float32)"),
    Row("nms_match", ("nms_match",), "forward", "mluopsExtNmsMatch (float32)"),
)


@extension_function_of(boxes="N 4", scores="N")
def nms(boxes: Tensor, scores: Tensor, iou_threshold: float, offset: int) -> Tensor:
    """Return the numbers of the kept boxes, int64, in the order of their scores."""
    kind = _check("nms", boxes, scores, offset)
    # Any score counts, also NaN and minus infinity: the operator gets their ranks.
    order = scores.detach().to(kind).sort(descending=True, stable=True)[1]
    ranks = load_torch().arange(len(order), 0, -1, dtype=kind)  # rounded ones are equal, and in order still
    sorted_boxes = dense(boxes, kind)[order]
    kept, count = run(described("nms2d"), (sorted_boxes, ranks, None, None), (iou_threshold, offset))
    return order[kept[: int(count)].long()]


@extension_function_of(boxes="N 4", scores="N", dets="N 5")
def softnms(
    boxes: Tensor,
    scores: Tensor,
    dets: Tensor,
    iou_threshold: float,
    sigma: float,
    min_score: float,
    method: int,
    offset: int,
) -> Tensor:
    """Write the picked boxes with their scores, and return their numbers, int64."""
    name = "softnms"
    kind = _check(name, boxes, scores, offset)
    check_floats(name, boxes=boxes, dets=dets)
    check_shape(name, "dets", dets, (len(boxes), 5))
    if method not in (0, 1, 2):
        raise refuse(name, "method", "0 (naive), 1 (linear) or 2 (gaussian)", method)
    tensors = (dense(boxes, kind), dense(scores, kind), None, None, None)
    found, kept, count = run(described("soft_nms"), tensors, (iou_threshold, sigma, min_score, method, offset))
    number = int(count)
    dets.detach()[:number] = found[:number]
    return kept[:number].long()


@extension_function_of(dets="N 5")
def nms_match(dets: Tensor, iou_threshold: float) -> list[list[int]]:
    """Return the numbers of each group in the order of scores: a kept box, then those that belong to it."""
    name = "nms_match"
    given = check_floats(name, dets=dets)
    check_shape(name, "dets", dets, (None, 5))
    kind = compute_type(given, load_torch().float32)
    matches, order = run(described(name), (dense(dets, kind), None, None), (iou_threshold,))
    groups: dict[int, list[int]] = {}
    leaders = matches.tolist()
    for number in order.tolist():
        groups.setdefault(leaders[number], []).append(number)
    return list(groups.values())


def _check(name: str, boxes: Tensor, scores: Tensor, offset: int) -> Any:
    """Check what nms and softnms have in common, and return the type to compute in."""
    given = check_floats(name, boxes=boxes, scores=scores)
    check_shape(name, "boxes", boxes, (None, 4))
    check_shape(name, "scores", scores, (len(boxes),))
    if offset not in (0, 1):
        raise refuse(name, "offset", "0 or 1", offset)
    return compute_type(given, load_torch().float32)
