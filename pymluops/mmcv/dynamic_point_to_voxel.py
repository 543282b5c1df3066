"""dynamic_scatter of mmcv."""

from __future__ import annotations

from pymluops._core import Operator
from pymluops.mmcv._binding import Row
from pymluops.mmcv._kernels import run_on_cpu
from pymluops.mmcv._tensors import (
    check_floats,
    check_int32,
    check_shape,
    check_tensors,
    compute_type,
    dense,
    extension_function_of,
    refuse,
)
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._described import described
from pymluops.ops._double import double_of

__all__ = ["dynamic_point_to_voxel_backward", "dynamic_point_to_voxel_forward"]

ROWS = (
    Row(
        "dynamic_scatter, DynamicScatter",
        ("dynamic_point_to_voxel_forward", "dynamic_point_to_voxel_backward"),
        "forward, backward",
        "mluopsExtDynamicScatterForward, Backward (float32)",
        "Sums and means are added up in the order of the points.",
    ),
)

_REDUCTIONS = {"sum": 0, "mean": 1, "max": 2}


@extension_function_of(feats="N C", coors="N 3")
def dynamic_point_to_voxel_forward(feats: Tensor, coors: Tensor, reduce_type: str) -> list[Tensor]:
    """Return features, places, the voxel of each point and the number of points of each voxel."""
    name = "dynamic_point_to_voxel_forward"
    number = _reduction(name, reduce_type)
    check_floats(name, feats=feats)
    check_tensors(name, ("int32", "int64"), {"coors": coors})
    check_shape(name, "feats", feats, (None, None))
    check_shape(name, "coors", coors, (feats.shape[0], 3))
    torch = load_torch()
    if not feats.shape[0]:
        none = torch.empty(0, dtype=torch.int32)
        return [feats.detach().clone(), coors.clone(), none, none.clone()]
    kind = compute_type(feats.dtype, torch.float32)
    # The places count without channels too.
    rows = dense(feats, kind) if feats.shape[1] else torch.zeros(feats.shape[0], 1, dtype=kind)
    arrays = (rows, _places(name, coors), None, None, None, None, None)
    values, places, mapping, counts, found = run_on_cpu(_in(kind, "dynamic_scatter_forward"), arrays, (number,))
    voxels = int(found[0])
    values = values[:voxels, : feats.shape[1]].to(feats.dtype)
    return [values.clone(), places[:voxels].to(coors.dtype).clone(), mapping, counts[:voxels].clone()]


@extension_function_of(
    grad_feats="N C", grad_reduced_feats="V C", feats="N C", reduced_feats="V C", coors_idx="N", reduce_count="V"
)
def dynamic_point_to_voxel_backward(
    grad_feats: Tensor,
    grad_reduced_feats: Tensor,
    feats: Tensor,
    reduced_feats: Tensor,
    coors_idx: Tensor,
    reduce_count: Tensor,
    reduce_type: str,
) -> None:
    """Write the gradient of the features of the points."""
    name = "dynamic_point_to_voxel_backward"
    number = _reduction(name, reduce_type)
    given = {"grad_reduced_feats": grad_reduced_feats, "feats": feats, "reduced_feats": reduced_feats}
    dtype = check_floats(name, grad_feats=grad_feats, **given)
    check_int32(name, coors_idx=coors_idx, reduce_count=reduce_count)
    check_shape(name, "grad_reduced_feats", grad_reduced_feats, (None, None))
    voxels, channels = grad_reduced_feats.shape
    check_shape(name, "feats", feats, (None, channels))
    check_shape(name, "grad_feats", grad_feats, feats.shape)
    check_shape(name, "reduced_feats", reduced_feats, (voxels, channels))
    check_shape(name, "coors_idx", coors_idx, (feats.shape[0],))
    check_shape(name, "reduce_count", reduce_count, (voxels,))
    if not (feats.numel() and voxels):
        grad_feats.detach().zero_()
        return
    kind = compute_type(dtype, load_torch().float32)
    reals = [dense(tensor, kind) for tensor in given.values()]
    arrays = (*reals, dense(coors_idx), dense(reduce_count), None)
    grad_feats.detach().copy_(run_on_cpu(_in(kind, "dynamic_scatter_backward"), arrays, (number,)))


def _reduction(name: str, reduce_type: str) -> int:
    if reduce_type not in _REDUCTIONS:
        raise refuse(name, "reduce_type", "'max', 'sum' or 'mean'", repr(reduce_type))
    return _REDUCTIONS[reduce_type]


def _places(name: str, coors: Tensor) -> Tensor:
    narrow = dense(coors, load_torch().int32)
    if not bool((narrow == coors).all()):
        raise refuse(name, "coors", "numbers that int32 can hold", "larger ones")
    return narrow


def _in(kind: object, operator: str) -> Operator:
    """Return an operator, or the one that computes the same in float64."""
    known = described(operator)
    return double_of(known) if kind == load_torch().float64 else known
