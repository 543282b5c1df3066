"""PointsInPolygons: which points lie in which polygons."""

from __future__ import annotations

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator

__all__ = ["points_in_polygons"]

_INSIDE = TorchOperator(described("points_in_polygons"), folds=False)
_INSIDE.without_gradient()


def _formula(points: Tensor, polygons: Tensor) -> Tensor:
    """Look at the edges one after another; `looking` is false once the point lies on one."""
    x, y = points.double().split(1, 1)
    finite = points.isfinite().all(1)[:, None] & polygons.isfinite().all(1)
    corners = [(polygons[:, 2 * i].double(), polygons[:, 2 * i + 1].double()) for i in range(4)]
    odd = torch.zeros_like(x + polygons[:, 0], dtype=torch.bool)
    looking = ~odd
    for (begin_x, begin_y), (end_x, end_y) in zip(corners[-1:] + corners[:-1], corners, strict=True):
        looking = looking & ~(((x == end_x) & (y == end_y)) | ((x == begin_x) & (y == begin_y)))
        falls, rises = (y > end_y) & (y <= begin_y), (y <= end_y) & (y > begin_y)
        turn = (end_x - x) * (begin_y - y) - (end_y - y) * (begin_x - x)  # positive: left of an edge that falls
        looking = looking & ~((falls | rises) & (turn == 0))
        odd = odd ^ (looking & ((falls & (turn > 0)) | (rises & (turn < 0))))
    return (odd & finite).to(points.dtype)


_FUNCTION = TensorFunction(_INSIDE, formula=_formula)


@_FUNCTION
def points_in_polygons(points: Tensor, polygons: Tensor) -> Tensor:
    """Tell which points lie in which polygons of four corners.

    A point on the border may count or not. The result has no gradient.

    Parameters
    ----------
    points : Tensor, shape [N, 2]
        x and y of each point; any floating type.
    polygons : Tensor, shape [M, 8], like `points`
        x and y of the four corners of each polygon, in the order of a walk.

    Returns
    -------
    Tensor, shape [N, M]
        1 where the point lies in the polygon, else 0, like `points`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> square = torch.tensor([[0.0, 0, 2, 0, 2, 2, 0, 2]])
    >>> pymluops.torch.points_in_polygons(torch.tensor([[1.0, 1], [3, 1]]), square).tolist()
    [[1.0], [0.0]]
    """
    return (_FUNCTION.through_torch if compiling() else _FUNCTION.direct)(points, polygons)
