"""knn of mmcv."""

from __future__ import annotations

from typing import Any

from pymluops.mmcv._binding import Row, binding, integers, result, values
from pymluops.mmcv._tensors import check_floats, extension_function
from pymluops.mmcv._torch import Tensor
from pymluops.mmcv._wrappers import Wrapper

__all__ = ["knn_forward"]

ROWS = (
    Row(
        "knn",
        ("knn_forward",),
        "forward",
        "mluopsExtKnn (float16, float32)",
        "Of equal distances the first point comes first. dist2_tensor may have another type than the points.",
    ),
)

#: The distance that mmcv writes where there are fewer points.
_MISSING = 1e10

_KNN = binding(
    "knn_forward",
    "knn",
    values("xyz_tensor", "b n 3", "xyz"),
    values("new_xyz_tensor", "b m 3", "new_xyz"),
    result("idx_tensor", "b m nsample", "idx", types=("int32",)),
    result("dist2_tensor", "b m nsample", "dist2"),
    *integers("b n m nsample"),
    scalars={"k": lambda call: call.sizes["nsample"]},
)


@extension_function
def knn_forward(
    xyz_tensor: Tensor,
    new_xyz_tensor: Tensor,
    idx_tensor: Tensor,
    dist2_tensor: Tensor,
    b: int,
    n: int,
    m: int,
    nsample: int,
) -> None:
    """Find the nearest points; where there are fewer, idx is 0 and dist2 is 1e10."""
    check_floats("knn_forward", dist2_tensor=dist2_tensor)
    check_floats("knn_forward", xyz_tensor=xyz_tensor)
    distances = dist2_tensor.detach()
    if distances.dtype != xyz_tensor.dtype:
        distances = distances.to(xyz_tensor.dtype)
    _KNN(xyz_tensor, new_xyz_tensor, idx_tensor, distances, b, n, m, nsample)
    if not bool(distances.isfinite().all()):  # in place of a type that does not hold 1e10
        distances = distances.to(dist2_tensor.dtype).clamp(max=_MISSING)
    if distances.data_ptr() != dist2_tensor.data_ptr():
        dist2_tensor.detach().copy_(distances)


def _forward(ctx: Any, k: int, xyz: Tensor, center_xyz: Tensor | None = None, transposed: bool = False) -> Tensor:
    """Do what mmcv's function does, without a look at the current GPU."""
    assert 0 < k < 100, "k should be in range(0, 100)"
    center = xyz if center_xyz is None else center_xyz
    if transposed:
        xyz, center = xyz.transpose(2, 1), center.transpose(2, 1)
    batch, places, _ = center.shape
    idx, dist2 = center.new_zeros((batch, places, k)).int(), center.new_zeros((batch, places, k))
    knn_forward(xyz, center, idx, dist2, b=batch, n=xyz.shape[1], m=places, nsample=k)
    idx = idx.transpose(2, 1).contiguous()
    ctx.mark_non_differentiable(idx)
    return idx


WRAPPERS = (Wrapper("knn", "KNN.forward", _forward),)
