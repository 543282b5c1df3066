"""assign_score_withk of mmcv."""

from __future__ import annotations

from typing import Any

from pymluops.mmcv._binding import Row
from pymluops.mmcv._kernels import run
from pymluops.mmcv._tensors import (
    check_floats,
    check_shape,
    check_tensors,
    compute_type,
    dense,
    extension_function_of,
    refuse,
    writable,
)
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._described import described

__all__ = ["assign_score_withk_backward", "assign_score_withk_forward"]

ROWS = (
    Row(
        "assign_score_withk",
        ("assign_score_withk_forward", "assign_score_withk_backward"),
        "forward, backward",
        "mluopsExtAssignScoreWithkForward, Backward (float16, float32)",
        "aggregate has no effect, as in a compiled mmcv.",
    ),
)


@extension_function_of(points="B N0 M O", centers="B N0 M O", scores="B N1 K M", knn_idx="B N1 K", output="B O N1 K")
def assign_score_withk_forward(
    points: Tensor,
    centers: Tensor,
    scores: Tensor,
    knn_idx: Tensor,
    output: Tensor,
    B: int,
    N0: int,
    N1: int,
    M: int,
    K: int,
    O: int,  # noqa: E741 - mmcv's name
    aggregate: int,
) -> None:
    """Write the weighted features of neighbours; a number outside of the points gives 0."""
    name, sizes = "assign_score_withk_forward", (B, N0, N1, M, K, O)
    given = {"points": points, "centers": centers, "scores": scores, "output": output}
    kind = compute_type(check_floats(name, **given))
    numbers = _numbers(name, given, knn_idx, sizes, aggregate)
    tensors = (dense(points, kind), dense(centers, kind), dense(scores, kind), numbers)
    _write(name, tensors, {"output": output}, kind)


@extension_function_of(
    grad_out="B O N1 K",
    points="B N0 M O",
    centers="B N0 M O",
    scores="B N1 K M",
    knn_idx="B N1 K",
    grad_points="B N0 M O",
    grad_centers="B N0 M O",
    grad_scores="B N1 K M",
)
def assign_score_withk_backward(
    grad_out: Tensor,
    points: Tensor,
    centers: Tensor,
    scores: Tensor,
    knn_idx: Tensor,
    grad_points: Tensor,
    grad_centers: Tensor,
    grad_scores: Tensor,
    B: int,
    N0: int,
    N1: int,
    M: int,
    K: int,
    O: int,  # noqa: E741 - mmcv's name
    aggregate: int,
) -> None:
    """Write the gradients of features and scores."""
    name, sizes = "assign_score_withk_backward", (B, N0, N1, M, K, O)
    results = {"grad_points": grad_points, "grad_centers": grad_centers, "grad_scores": grad_scores}
    given = {"grad_out": grad_out, "points": points, "centers": centers, "scores": scores, **results}
    kind = compute_type(check_floats(name, **given))
    numbers = _numbers(name, given, knn_idx, sizes, aggregate)
    tensors = (dense(grad_out, kind), dense(points, kind), dense(centers, kind), dense(scores, kind), numbers)
    _write(name, tensors, results, kind)


def _numbers(name: str, given: dict[str, Tensor], knn_idx: Tensor, sizes: tuple[int, ...], aggregate: int) -> Tensor:
    """Check all arguments, and return the numbers of neighbours as int32."""
    batch, points, centres, matrices, neighbours, channels = sizes
    bank, scores = (batch, points, matrices, channels), (batch, centres, neighbours, matrices)
    output = (batch, channels, centres, neighbours)
    shapes = {
        "points": bank, "centers": bank, "grad_points": bank, "grad_centers": bank,
        "scores": scores, "grad_scores": scores, "output": output, "grad_out": output,
    }  # fmt: skip
    for argument, tensor in given.items():
        check_shape(name, argument, tensor, shapes[argument])
    check_tensors(name, ("int64",), {"knn_idx": knn_idx})
    check_shape(name, "knn_idx", knn_idx, (batch, centres, neighbours))
    if aggregate not in (0, 1, 2):
        raise refuse(name, "aggregate", "0 (sum), 1 (avg) or 2 (max)", aggregate)
    # Numbers that int32 does not hold name no point either.
    return dense(knn_idx.clamp(-1, points), load_torch().int32)


def _write(name: str, tensors: tuple[Tensor, ...], results: dict[str, Tensor], kind: Any) -> None:
    plain = [one.detach() for one in results.values()]
    written = [writable(one, kind) for one in plain]
    run(described(name), (*tensors, *written))
    for one, made in zip(plain, written, strict=True):
        if made is not one:
            one.copy_(made)
