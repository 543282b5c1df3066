"""``pointnet2_ops._ext`` of Pointnet2_PyTorch, ``pointnet2._ext`` of VoteNet: functions that return new tensors."""

from __future__ import annotations

from typing import Any

from pymluops.dropins._declarations import Row
from pymluops.mmcv._kernels import run
from pymluops.mmcv._tensors import (
    check_floats,
    check_indices,
    check_int32,
    check_shape,
    compute_type,
    dense,
    extension_function,
    refuse,
)
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._described import described

__all__ = [
    "ball_query",
    "furthest_point_sampling",
    "gather_points",
    "gather_points_grad",
    "group_points",
    "group_points_grad",
    "three_interpolate",
    "three_interpolate_grad",
    "three_nn",
]

DROP_IN = "pointnet2"
MODULES = ("pointnet2_ops._ext", "pointnet2._ext")
ROWS = (
    Row(
        "furthest_point_sampling",
        "mluopsExtFurthestPointSampling",
        "points with x^2 + y^2 + z^2 <= 0.001 are picked only first, as there; of equal distances the first point",
    ),
    Row("gather_points gather_points_grad", "mluopsExtGatherPointsForward, Backward"),
    Row("group_points group_points_grad", "mluopsExtGroupPointsForward, Backward"),
    Row("ball_query", "mluOpBallQuery", "a radius of 0 finds the points at the centre, theirs none"),
    Row("three_nn", "mluOpThreeNNForward"),
    Row("three_interpolate three_interpolate_grad", "mluOpThreeInterpolateForward, Backward"),
)
CHANGES = ("nothing in its own functions; models and data that a program moves to a GPU stay on the CPU",)

#: Squared distances begin so, and points this near to the origin are no candidates.
_MOST, _NEAR = 1e10, 1e-3


def _computed(operator: str, like: Tensor, tensors: tuple[Tensor, ...], scalars: tuple[Any, ...] = ()) -> Any:
    """Return the results of an operator: floating ones in the type of `like`."""
    torch = load_torch()
    kind = compute_type(like.dtype, torch.float32)
    ready = [dense(tensor, kind if tensor.is_floating_point() else torch.int32) for tensor in tensors]
    outputs = sum(tensor.output for tensor in described(operator).tensors)
    found = run(described(operator), (*ready, *[None] * outputs), scalars)
    results = found if outputs > 1 else (found,)
    made = tuple(one.to(like.dtype) if one.is_floating_point() else one for one in results)
    return made if outputs > 1 else made[0]


def _new(like: Tensor, *shape: int, dtype: Any = None) -> Any:
    return like.new_zeros(shape, dtype=dtype or like.dtype)


@extension_function
def furthest_point_sampling(points: Tensor, nsamples: int) -> Tensor:
    """Return the numbers [B, nsamples] of points [B, N, 3] that lie furthest from each other."""
    name = "furthest_point_sampling"
    check_floats(name, points=points)
    check_shape(name, "points", points, (None, None, 3))
    if nsamples < 0:
        raise refuse(name, "nsamples", "at least 0", nsamples)
    batch, count, _ = points.shape
    if not batch or not count or not nsamples:
        return _new(points, batch, nsamples, dtype=load_torch().int32)
    return _computed(name, points, (points,), (nsamples, _MOST, _NEAR))[1]


def _gathered(name: str, operator: str, points: Tensor, idx: Tensor, dims: int) -> Tensor:
    check_floats(name, points=points)
    check_int32(name, idx=idx)
    check_shape(name, "points", points, (None, None, None))
    check_shape(name, "idx", idx, (points.shape[0], *[None] * dims))
    check_indices(name, "idx", idx, points.shape[2])
    shape = (*points.shape[:2], *idx.shape[1:])
    return _computed(operator, points, (points, idx)) if points.numel() and idx.numel() else _new(points, *shape)


def _gradient(name: str, operator: str, grad_out: Tensor, idx: Tensor, n: int, dims: int) -> Tensor:
    check_floats(name, grad_out=grad_out)
    check_int32(name, idx=idx)
    check_shape(name, "idx", idx, [None] * (1 + dims))
    check_shape(name, "grad_out", grad_out, (idx.shape[0], None, *idx.shape[1:]))
    if n < 0:
        raise refuse(name, "n", "at least 0", n)
    check_indices(name, "idx", idx, n)
    if not grad_out.numel() or not n:
        return _new(grad_out, *grad_out.shape[:2], n)
    return _computed(operator, grad_out, (grad_out, idx), (n,))


@extension_function
def gather_points(points: Tensor, idx: Tensor) -> Tensor:
    """Return the columns idx [B, m] of points [B, C, N]."""
    return _gathered("gather_points", "gather_points_forward", points, idx, 1)


@extension_function
def gather_points_grad(grad_out: Tensor, idx: Tensor, n: int) -> Tensor:
    """Return the gradient [B, C, n] of the points for that of the columns, [B, C, m]."""
    return _gradient("gather_points_grad", "gather_points_backward", grad_out, idx, n, 1)


@extension_function
def group_points(points: Tensor, idx: Tensor) -> Tensor:
    """Return the columns idx [B, m, s] of points [B, C, N]."""
    return _gathered("group_points", "group_points_forward", points, idx, 2)


@extension_function
def group_points_grad(grad_out: Tensor, idx: Tensor, n: int) -> Tensor:
    """Return the gradient [B, C, n] of the points for that of the groups, [B, C, m, s]."""
    return _gradient("group_points_grad", "group_points_backward", grad_out, idx, n, 2)


@extension_function
def ball_query(new_xyz: Tensor, xyz: Tensor, radius: float, nsample: int) -> Tensor:
    """Return the first points of xyz [B, n, 3] within a radius around new_xyz [B, m, 3], [B, m, nsample]."""
    name = "ball_query"
    check_floats(name, new_xyz=new_xyz, xyz=xyz)
    check_shape(name, "new_xyz", new_xyz, (None, None, 3))
    check_shape(name, "xyz", xyz, (new_xyz.shape[0], None, 3))
    if not radius >= 0 or nsample < 0:
        raise refuse(name, "radius and nsample", "numbers of at least 0", f"{radius} and {nsample}")
    if not (new_xyz.numel() and xyz.numel() and nsample):
        return _new(new_xyz, *new_xyz.shape[:2], nsample, dtype=load_torch().int32)
    return _computed(name, new_xyz, (new_xyz, xyz), (0.0, float(radius), nsample))


@extension_function
def three_nn(unknown: Tensor, known: Tensor) -> list[Tensor]:
    """Return squared distances and numbers [B, n, 3] of the known points [B, m, 3] nearest to each unknown one."""
    name = "three_nn"
    check_floats(name, unknown=unknown, known=known)
    check_shape(name, "unknown", unknown, (None, None, 3))
    check_shape(name, "known", known, (unknown.shape[0], None, 3))
    if not unknown.numel():
        return [_new(unknown, *unknown.shape), _new(unknown, *unknown.shape, dtype=load_torch().int32)]
    return list(_computed("three_nn_forward", unknown, (unknown, known)))


@extension_function
def three_interpolate(points: Tensor, idx: Tensor, weight: Tensor) -> Tensor:
    """Return sums of three columns of points [B, C, m], chosen and weighted by idx and weight [B, n, 3]."""
    name = "three_interpolate"
    check_floats(name, points=points, weight=weight)
    check_int32(name, idx=idx)
    check_shape(name, "points", points, (None, None, None))
    check_shape(name, "idx", idx, (points.shape[0], None, 3))
    check_shape(name, "weight", weight, idx.shape)
    check_indices(name, "idx", idx, points.shape[2])
    if not points.numel() or not idx.numel():
        return _new(points, *points.shape[:2], idx.shape[1])
    return _computed("three_interpolate_forward", points, (points, idx, weight))


@extension_function
def three_interpolate_grad(grad_out: Tensor, idx: Tensor, weight: Tensor, m: int) -> Tensor:
    """Return the gradient [B, C, m] of the points for that of the sums, [B, C, n]."""
    name = "three_interpolate_grad"
    check_floats(name, grad_out=grad_out, weight=weight)
    check_int32(name, idx=idx)
    check_shape(name, "idx", idx, (None, None, 3))
    check_shape(name, "grad_out", grad_out, (idx.shape[0], None, idx.shape[1]))
    check_shape(name, "weight", weight, idx.shape)
    check_indices(name, "idx", idx, m)
    if not grad_out.numel() or not m:
        return _new(grad_out, *grad_out.shape[:2], m)
    return _computed("three_interpolate_backward", grad_out, (grad_out, idx, weight), (m,))
