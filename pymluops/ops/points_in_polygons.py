"""Which points lie in which polygons of four corners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator
from pymluops.ops._schema import FLOAT32, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["points_in_polygons"]

_INSIDE = Operator(
    "mluopsExtPointsInPolygons",
    "points_in_polygons",
    (
        Tensor("points", FLOAT32, "N 2"),
        Tensor("polygons", "points", "M 8"),
        Tensor("out", "points", "N M", output=True, parameter="inside"),
    ),
)


def points_in_polygons(points: Array, polygons: Array, *, out: Any = None, handle: Handle | None = None) -> Any:
    """Tell which points lie in which polygons of four corners.

    A ray from the point to the right crosses the border of a polygon that holds it an odd number of
    times. Edges are looked at from the one that ends in the first corner on; one that holds the
    point ends this, so that for a point on the border the count up to there decides.

    Parameters
    ----------
    points : array, shape [N, 2], float32
        x and y of each point.
    polygons : array, shape [M, 8], like `points`
        x and y of the four corners of each polygon, in the order of a walk.
    out : array or DeviceArray, optional
        Where to write, shape [N, M], like `points`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of the kind of the first argument: 1 where the point lies in the
        polygon, else 0. N and M may be 0.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> square = np.array([[0, 0, 2, 0, 2, 2, 0, 2]], np.float32)
    >>> pymluops.points_in_polygons(np.array([[1, 1], [3, 1]], np.float32), square).tolist()
    [[1.0], [0.0]]
    """
    return _INSIDE(handle, (points, polygons, out))
