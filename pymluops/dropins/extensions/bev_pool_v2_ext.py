"""``bev_pool_v2_ext`` of BEVDet: sums of products of depth and features for the cells of a grid."""

from __future__ import annotations

from typing import Any

from pymluops.dropins._declarations import Row
from pymluops.mmcv._tensors import check_floats, check_indices, check_int32, check_shape, extension_function, refuse
from pymluops.mmcv._torch import Tensor, load_torch

__all__ = ["bev_pool_v2_backward", "bev_pool_v2_forward"]

DROP_IN = "mmdet3d"
MODULES = ("mmdet3d.ops.bev_pool_v2.bev_pool_v2_ext",)
ROWS = (Row("bev_pool_v2_forward bev_pool_v2_backward", "PyTorch", "products are added up in the order of the points"),)
CHANGES = ("nothing in its own functions",)


def _points(
    name: str, ranks: dict[str, tuple[Tensor, int]], interval_lengths: Tensor, interval_starts: Tensor
) -> tuple[dict[str, Any], Any]:
    """Check the numbers; return those of the points in intervals, and the first point of the interval of each."""
    check_int32(name, **{key: tensor for key, (tensor, _) in ranks.items()})
    check_int32(name, interval_lengths=interval_lengths, interval_starts=interval_starts)
    count = len(next(iter(ranks.values()))[0])
    for key, (tensor, end) in ranks.items():
        check_shape(name, key, tensor, (count,))
        check_indices(name, key, tensor, end)
    check_shape(name, "interval_lengths", interval_lengths, (None,))
    check_shape(name, "interval_starts", interval_starts, interval_lengths.shape)
    lengths, starts = interval_lengths.detach().long(), interval_starts.detach().long()
    if len(lengths) and (int(lengths.min()) < 0 or int(starts.min()) < 0 or int((starts + lengths).max()) > count):
        raise refuse(name, "interval_starts and interval_lengths", f"parts of {count} points", "others")
    torch = load_torch()
    firsts = starts.repeat_interleave(lengths)
    before = (lengths.cumsum(0) - lengths).repeat_interleave(lengths)
    rows = firsts + torch.arange(len(firsts)) - before
    return {key: tensor.detach().long()[rows] for key, (tensor, _) in ranks.items()}, firsts


@extension_function
def bev_pool_v2_forward(
    depth: Tensor,
    feat: Tensor,
    out: Tensor,
    ranks_depth: Tensor,
    ranks_feat: Tensor,
    ranks_bev: Tensor,
    interval_lengths: Tensor,
    interval_starts: Tensor,
) -> None:
    """Write the sums of depth * feat [..., c] of each interval into the cells of out [..., c]."""
    name = "bev_pool_v2_forward"
    check_floats(name, depth=depth, feat=feat, out=out)
    c = feat.shape[-1] if feat.ndim else 0
    if out.ndim < 1 or out.shape[-1] != c or not out.is_contiguous():
        raise refuse(name, "out", f"contiguous, with {c} channels last", f"shape {[*out.shape]}")
    depths, features, cells = depth.detach().reshape(-1), feat.detach().reshape(-1, c), out.detach().view(-1, c)
    ranks = {
        "ranks_depth": (ranks_depth, len(depths)),
        "ranks_feat": (ranks_feat, len(features)),
        "ranks_bev": (ranks_bev, len(cells)),
    }
    found, firsts = _points(name, ranks, interval_lengths, interval_starts)
    products = depths[found["ranks_depth"], None] * features[found["ranks_feat"]]
    cells.zero_().index_add_(0, ranks_bev.detach().long()[firsts], products)


@extension_function
def bev_pool_v2_backward(
    out_grad: Tensor,
    depth_grad: Tensor,
    feat_grad: Tensor,
    depth: Tensor,
    feat: Tensor,
    ranks_depth: Tensor,
    ranks_feat: Tensor,
    ranks_bev: Tensor,
    interval_lengths: Tensor,
    interval_starts: Tensor,
) -> None:
    """Write the gradients of depth and features; points of an interval have the same row of features."""
    name = "bev_pool_v2_backward"
    check_floats(name, out_grad=out_grad, depth_grad=depth_grad, feat_grad=feat_grad, depth=depth, feat=feat)
    check_shape(name, "depth_grad", depth_grad, depth.shape)
    check_shape(name, "feat_grad", feat_grad, feat.shape)
    c = feat.shape[-1] if feat.ndim else 0
    check_shape(name, "out_grad", out_grad, (*out_grad.shape[:-1], c))
    grads, depths, features = out_grad.detach().reshape(-1, c), depth.detach().reshape(-1), feat.detach().reshape(-1, c)
    ranks = {
        "ranks_depth": (ranks_depth, len(depths)),
        "ranks_feat": (ranks_feat, len(features)),
        "ranks_bev": (ranks_bev, len(grads)),
    }
    found, firsts = _points(name, ranks, interval_lengths, interval_starts)
    given = grads[found["ranks_bev"]]
    made = depths.new_zeros(depths.shape)
    made.index_add_(0, found["ranks_depth"], (given * features[found["ranks_feat"]]).sum(1))
    depth_grad.detach().copy_(made.view(depth.shape))
    sums = features.new_zeros(features.shape)
    sums.index_add_(0, ranks_feat.detach().long()[firsts], given * depths[found["ranks_depth"], None])
    feat_grad.detach().copy_(sums.view(feat.shape))
