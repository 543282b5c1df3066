"""``chamfer_3D`` of ChamferDistancePytorch: the nearest points of two clouds in space."""

from __future__ import annotations

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

__all__ = ["backward", "forward"]

DROP_IN = "chamfer"
MODULES = ("chamfer_3D",)
ROWS = (Row("forward backward", "mluopsExtKnn, PyTorch", "of equally near points the first is taken"),)
CHANGES = ("chamfer3D: torch.cuda.set_device",)


def _nearest(points: Tensor, others: Tensor, dist: Tensor, idx: Tensor) -> None:
    kind = compute_type(points.dtype, load_torch().float32)
    squared, found = run(described("knn"), (dense(others, kind), dense(points, kind), None, None), (1,))
    idx.detach().copy_(found[..., 0])
    dist.detach().copy_(squared[..., 0])


@extension_function
def forward(xyz1: Tensor, xyz2: Tensor, dist1: Tensor, dist2: Tensor, idx1: Tensor, idx2: Tensor) -> int:
    """Write the squared distance and the number of the nearest point of the other cloud, [B, N, 3] and [B, M, 3]."""
    name = "forward"
    check_floats(name, xyz1=xyz1, xyz2=xyz2, dist1=dist1, dist2=dist2)
    check_int32(name, idx1=idx1, idx2=idx2)
    check_shape(name, "xyz1", xyz1, (None, None, 3))
    check_shape(name, "xyz2", xyz2, (len(xyz1), None, 3))
    for number, tensors in enumerate(((xyz1, dist1, idx1), (xyz2, dist2, idx2)), 1):
        for argument, tensor in zip(("dist", "idx"), tensors[1:], strict=True):
            check_shape(name, f"{argument}{number}", tensor, tensors[0].shape[:2])
    if bool(xyz1.numel()) != bool(xyz2.numel()):
        raise refuse(name, "xyz1 and xyz2", "points in both clouds", f"{xyz1.shape[1]} and {xyz2.shape[1]}")
    if xyz1.numel():
        _nearest(xyz1, xyz2, dist1, idx1)
        _nearest(xyz2, xyz1, dist2, idx2)
    return 1


@extension_function
def backward(
    xyz1: Tensor,
    xyz2: Tensor,
    gradxyz1: Tensor,
    gradxyz2: Tensor,
    graddist1: Tensor,
    graddist2: Tensor,
    idx1: Tensor,
    idx2: Tensor,
) -> int:
    """Write the gradients of both clouds."""
    name = "backward"
    check_floats(name, xyz1=xyz1, xyz2=xyz2, gradxyz1=gradxyz1, gradxyz2=gradxyz2)
    check_floats(name, graddist1=graddist1, graddist2=graddist2)
    check_int32(name, idx1=idx1, idx2=idx2)
    check_shape(name, "xyz1", xyz1, (None, None, 3))
    check_shape(name, "xyz2", xyz2, (len(xyz1), None, 3))
    pairs = ((xyz1, xyz2, gradxyz1, graddist1, idx1), (xyz2, xyz1, gradxyz2, graddist2, idx2))
    for number, (points, others, grad_points, grad_dist, idx) in enumerate(pairs, 1):
        check_shape(name, f"gradxyz{number}", grad_points, points.shape)
        check_shape(name, f"graddist{number}", grad_dist, points.shape[:2])
        check_shape(name, f"idx{number}", idx, points.shape[:2])
        check_indices(name, f"idx{number}", idx, others.shape[1])
    results = (xyz1.detach().new_zeros(xyz1.shape), xyz2.detach().new_zeros(xyz2.shape))
    for i, (points, others, _, grad_dist, idx) in enumerate(pairs):
        rows = idx.detach().long()[..., None].expand(-1, -1, 3)
        part = 2 * grad_dist.detach()[..., None] * (points.detach() - others.detach().gather(1, rows))
        results[i].add_(part)
        results[1 - i].scatter_add_(1, rows, -part)
    gradxyz1.detach().copy_(results[0])
    gradxyz2.detach().copy_(results[1])
    return 1
