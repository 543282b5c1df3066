"""points_in_boxes of mmcv, all three forms."""

from __future__ import annotations

from collections.abc import Callable

from pymluops.mmcv._binding import Call, Row, binding, result, values
from pymluops.mmcv._tensors import check_floats, check_int32, check_shape, extension_function_of
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.mmcv._wrappers import Wrapper

__all__ = ["points_in_boxes_all_forward", "points_in_boxes_cpu_forward", "points_in_boxes_part_forward"]

ROWS = (
    Row(
        "points_in_boxes_part, points_in_boxes_all, points_in_boxes_cpu",
        ("points_in_boxes_part_forward", "points_in_boxes_all_forward", "points_in_boxes_cpu_forward"),
        "forward",
        "mluopsExtPointsInBoxesPart, All (float16, float32)",
    ),
)

_RULE: dict[str, Callable[[Call], float]] = {"margin": lambda call: 0.0, "centred": lambda call: False}

points_in_boxes_part_forward = binding(
    "points_in_boxes_part_forward",
    "points_in_boxes_part",
    values("boxes_tensor", "B T 7", "boxes"),
    values("pts_tensor", "B M 3", "points"),
    result("box_idx_of_points_tensor", "B M", "out", types=("int32",)),
    scalars=_RULE,
    empty="keep",
)
points_in_boxes_all_forward = binding(
    "points_in_boxes_all_forward",
    "points_in_boxes_all",
    values("boxes_tensor", "B T 7", "boxes"),
    values("pts_tensor", "B M 3", "points"),
    result("box_idx_of_points_tensor", "B M T", "out", types=("int32",)),
    scalars=_RULE,
    empty="keep",
)


@extension_function_of(boxes_tensor="T 7", pts_tensor="M 3", pts_indices_tensor="T M")
def points_in_boxes_cpu_forward(boxes_tensor: Tensor, pts_tensor: Tensor, pts_indices_tensor: Tensor) -> None:
    """Write for boxes [T, 7] of one batch whether each holds each point [M, 3]: 1 or 0, [T, M]."""
    name = "points_in_boxes_cpu_forward"
    check_floats(name, boxes_tensor=boxes_tensor, pts_tensor=pts_tensor)
    check_int32(name, pts_indices_tensor=pts_indices_tensor)
    check_shape(name, "boxes_tensor", boxes_tensor, (None, 7))
    check_shape(name, "pts_tensor", pts_tensor, (None, 3))
    check_shape(name, "pts_indices_tensor", pts_indices_tensor, (boxes_tensor.shape[0], pts_tensor.shape[0]))
    points_in_boxes_all_forward(boxes_tensor[None], pts_tensor[None], pts_indices_tensor.t()[None])


def _part(points: Tensor, boxes: Tensor) -> Tensor:
    _check_scene(points, boxes)
    found: Tensor = load_torch().full(points.shape[:2], -1, dtype=load_torch().int32)
    points_in_boxes_part_forward(boxes, points, found)
    return found


def _all(points: Tensor, boxes: Tensor) -> Tensor:
    _check_scene(points, boxes)
    found: Tensor = load_torch().zeros((*points.shape[:2], boxes.shape[1]), dtype=load_torch().int32)
    points_in_boxes_all_forward(boxes, points, found)
    return found


def _check_scene(points: Tensor, boxes: Tensor) -> None:
    """Refuse what mmcv's functions refuse."""
    batches = points.shape[0], boxes.shape[0]
    assert batches[0] == batches[1], (
        f"expected as many batches of points as of boxes, got {batches[0]} and {batches[1]}"
    )
    for name, tensor, size in (("boxes", boxes, 7), ("points", points, 3)):
        assert tensor.shape[2] == size, f"{name}: expected {size} columns, got {tensor.shape[2]}"


WRAPPERS = (
    Wrapper("points_in_boxes", "points_in_boxes_part", _part),
    Wrapper("points_in_boxes", "points_in_boxes_all", _all),
)
