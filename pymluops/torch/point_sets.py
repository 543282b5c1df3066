"""Convex hulls of sets of nine points: convex_iou, convex_giou and min_area_polygons."""

from __future__ import annotations

from typing import cast

from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._library import TorchOperator

__all__ = ["convex_giou", "convex_iou", "min_area_polygons"]

_IOU = TorchOperator(described("convex_iou"), folds=False)
_GIOU = TorchOperator(described("convex_giou"))
_RECTANGLES = TorchOperator(described("min_area_polygons"))
for _operator in (_IOU, _GIOU, _RECTANGLES):
    _operator.without_gradient()


def convex_iou(pointsets: Tensor, polygons: Tensor) -> Tensor:
    """Divide the area that hulls of nine points and quadrilaterals have in common by that of both together.

    All pairs are compared. The result has no gradient.

    Parameters
    ----------
    pointsets : Tensor, shape [N, 18]
        x and y of nine points, of which the convex hull is compared; any floating type.
    polygons : Tensor, shape [K, 8], like `pointsets`
        x and y of four corners in their order around, in either direction; no edge crosses another.

    Returns
    -------
    Tensor, shape [N, K]
        Like `pointsets`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    References
    ----------
    Li et al.: Oriented RepPoints for Aerial Object Detection. CVPR 2022, arXiv:2105.11111.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> points = torch.tensor([[0.0, 0, 4, 0, 4, 2, 0, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]])
    >>> pymluops.torch.convex_iou(points, torch.tensor([[0.0, 0, 0, 2, 2, 2, 2, 0]])).tolist()
    [[0.5]]
    """
    return cast("Tensor", _IOU(pointsets, polygons))


def convex_giou(pointsets: Tensor, polygons: Tensor) -> tuple[Tensor, Tensor]:
    """Find the generalised IoU of hulls of nine points and quadrilaterals in the same rows, and its gradient.

    As in mmcv the gradient is a result, and both are constants to autograd: a loss multiplies it
    with the gradient that it gets. `pymluops.convex_giou` describes the computation.

    Parameters
    ----------
    pointsets : Tensor, shape [N, 18]
        x and y of nine points, of which the convex hull is compared; any floating type.
    polygons : Tensor, shape [N, 8], like `pointsets`
        x and y of four corners in their order around, in either direction; no edge crosses another.

    Returns
    -------
    gious : Tensor, shape [N]
        Like `pointsets`.
    gradients : Tensor, shape [N, 18]
        Of each by the points of its row.

    Raises
    ------
    ValueError
        If an argument is not as described.

    References
    ----------
    Li et al.: Oriented RepPoints for Aerial Object Detection. CVPR 2022, arXiv:2105.11111.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> points = torch.tensor([[1.0, 1, 5, 1, 5, 3, 1, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]])
    >>> gious, gradients = pymluops.torch.convex_giou(points, torch.tensor([[-1.0, 0, 7, 0, 7, 4, -1, 4]]))
    >>> gious.tolist(), gradients[0, :4].tolist()
    ([0.25], [-0.03125, -0.0625, 0.03125, -0.0625])
    """
    gious, gradients = _GIOU(pointsets, polygons)
    return gious, gradients


def min_area_polygons(pointsets: Tensor) -> Tensor:
    """Find the rectangles of the least area around sets of nine points.

    The result has no gradient.

    Parameters
    ----------
    pointsets : Tensor, shape [N, 18]
        x and y of nine points; any floating type.

    Returns
    -------
    Tensor, shape [N, 8]
        x and y of four corners, like `pointsets`; 0 if a point is not finite.

    Raises
    ------
    ValueError
        If an argument is not as described.

    References
    ----------
    Freeman and Shapira: Determining the minimum-area encasing rectangle for an arbitrary closed
    curve. Communications of the ACM 18, 1975.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> points = torch.tensor([[0.0, 0, 4, 0, 4, 2, 0, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]])
    >>> pymluops.torch.min_area_polygons(points).tolist()
    [[4.0, 0.0, 0.0, 0.0, 0.0, 2.0, 4.0, 2.0]]
    """
    return cast("Tensor", _RECTANGLES(pointsets))
