"""RoiPointPool3d: the first points in boxes with their features."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from pymluops.ops._described import described, without_sizes
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._modes import TracedModule, is_overridden, override, sizes
from pymluops.torch._upright_boxes import inside

__all__ = ["RoIPointPool3d", "roipoint_pool3d"]

_POOL = TorchOperator(
    without_sizes(described("roi_point_pool3d"), "batch_size", "pts_num", "boxes_num", "feature_in_len"),
    folds=False,
    sample={"pts_num": 7, "boxes_num": 3, "feature_in_len": 2, "sampled_pts_num": 4},
)
_POOL.without_gradient()


def _formula(points: Tensor, features: Tensor, boxes: Tensor, samples: int) -> tuple[Tensor, Tensor]:
    """Sort the numbers of the points in each box, and repeat them."""
    count = points.shape[1]
    held = inside(boxes, points)
    number = torch.where(held, torch.arange(count), count)
    missing = torch.full_like(number[..., :1], count).expand(-1, -1, samples)
    first = torch.cat([number, missing], -1).topk(samples, -1, largest=False)[0]
    found = (first < count).sum(-1, keepdim=True)
    chosen = first.gather(-1, torch.arange(samples) % found.clamp(min=1)).clamp(max=count - 1)
    rows = torch.cat([points, features], -1)[:, None].expand(-1, boxes.shape[1], -1, -1)
    pooled = rows.gather(2, chosen[..., None].expand(-1, -1, -1, rows.shape[-1]))
    return torch.where(found[..., None] > 0, pooled, torch.zeros_like(pooled)), (found[..., 0] == 0).int()


_FUNCTION = TensorFunction(_POOL, formula=_formula)


@_FUNCTION
def roipoint_pool3d(
    points: Tensor, point_features: Tensor, boxes3d: Tensor, num_sampled_points: int = 512
) -> tuple[Tensor, Tensor]:
    """Gather the first points in each box, with their features: `RoIPointPool3dFunction` of mmcv.

    `pymluops.roi_point_pool3d` has the rules. As in mmcv there is no gradient; results need none.

    Parameters
    ----------
    points : Tensor, shape [B, N, 3]
        Points; any floating type.
    point_features : Tensor, shape [B, N, C], like `points`
        Their features.
    boxes3d : Tensor, shape [B, M, 7], like `points`
        Boxes: x, y, z of the bottom, dx, dy, dz, heading.
    num_sampled_points : int
        Points of each box, S.

    Returns
    -------
    pooled_features : Tensor, shape [B, M, S, 3+C]
        x, y, z and features of each point; zeros for a box without a point.
    pooled_empty_flag : Tensor, shape [B, M], int32
        1 for a box without a point, else 0.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> points, features = torch.tensor([[[9.0, 0, 0], [0, 0, 1]]]), torch.tensor([[[5.0], [6]]])
    >>> pooled, empty = pymluops.torch.roipoint_pool3d(points, features, torch.tensor([[[0.0, 0, 0, 4, 4, 2, 0]]]), 2)
    >>> pooled.tolist(), empty.tolist()
    ([[[[0.0, 0.0, 1.0, 6.0], [0.0, 0.0, 1.0, 6.0]]]], [[0]])
    """
    if is_overridden((points, point_features, boxes3d)):
        given = (points, point_features, boxes3d)
        return cast("tuple[Tensor, Tensor]", override(roipoint_pool3d, given, *given, num_sampled_points))
    shape = sizes(point_features)
    if len(shape) != 3:
        raise ValueError(f"roipoint_pool3d: point_features: expected shape [B, N, C], got {[*shape]}")
    boxes = sizes(boxes3d)
    if len(boxes) != 3:
        raise ValueError(f"roipoint_pool3d: boxes3d: expected shape [B, M, 7], got {[*boxes]}")
    if not (all(shape) and boxes[1]):  # which the library refuses
        pooled = point_features.new_zeros((shape[0], boxes[1], num_sampled_points, 3 + shape[2]))
        return pooled, points.new_ones((shape[0], boxes[1]), dtype=torch.int32)
    way = _FUNCTION.through_torch if compiling() else _FUNCTION.direct
    found: tuple[Tensor, Tensor] = way(points, point_features, boxes3d, num_sampled_points)
    return found


class RoIPointPool3d(TracedModule):
    """`roipoint_pool3d` as a module.

    Parameters
    ----------
    num_sampled_points : int
        Points of each box.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> pool = pymluops.torch.RoIPointPool3d(4)
    >>> pooled, _ = pool(torch.rand(1, 9, 3), torch.rand(1, 9, 5), torch.tensor([[[0.0, 0, 0, 1, 1, 1, 0]]]))
    >>> pooled.shape
    torch.Size([1, 1, 4, 8])
    """

    def __init__(self, num_sampled_points: int = 512) -> None:
        super().__init__()
        self.num_sampled_points = num_sampled_points

    def forward(self, points: Tensor, point_features: Tensor, boxes3d: Tensor) -> tuple[Tensor, Tensor]:
        """Return points with features, and the flags of empty boxes."""
        return roipoint_pool3d(points, point_features, boxes3d, self.num_sampled_points)

    def extra_repr(self) -> str:
        """Return the argument."""
        return f"num_sampled_points={self.num_sampled_points}"
