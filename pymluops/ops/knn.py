"""The k nearest of a set of points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pymluops._core import Operator
from pymluops.ops._schema import FLOATS, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["NearestPoints", "knn"]

_Result = TypeVar("_Result")

_KNN = Operator(
    "mluopsExtKnn",
    "knn",
    (
        Tensor("xyz", FLOATS, "B N 3"),
        Tensor("new_xyz", "xyz", "B M 3", positive="B M"),
        Tensor("dist2", "xyz", "B M k", output=True),
        Tensor("idx", INT32, "B M k", output=True),
    ),
    (Scalar("k"),),
)


class NearestPoints(NamedTuple, Generic[_Result]):
    """What `knn` returns.

    Attributes
    ----------
    dist2 : array, shape [B, M, k], like the points
        Squared distances to the nearest points, ascending.
    idx : array, shape [B, M, k], int32
        Their numbers.
    """

    dist2: _Result
    idx: _Result


def knn(
    xyz: Array, new_xyz: Array, k: int, *, dist2: Any = None, idx: Any = None, handle: Handle | None = None
) -> NearestPoints[Any]:
    """Find the k points that are nearest to each of some places.

    Parameters
    ----------
    xyz : array, shape [B, N, 3], float16 or float32
        The points.
    new_xyz : array, shape [B, M, 3], like `xyz`
        The places to find neighbours for.
    k : int
        Number of neighbours, >= 1.
    dist2 : array or DeviceArray, optional
        Where to write the distances, shape [B, M, k], like `xyz`; it must not overlap another
        argument.
    idx : array or DeviceArray, optional
        Where to write the indices, shape [B, M, k], int32; it must not overlap another argument.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    NearestPoints
        A named tuple ``(dist2, idx)``: the arrays given, or new ones of the kind of the first
        argument. Squared distances are ascending; of points at equal distances the first comes
        first. Where there are fewer than k points at a finite distance, the rest is infinity with
        index 0.

    Raises
    ------
    BadParamError
        If an argument is not as described, or B or M is 0. N may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> points = np.array([[[5, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 1]]], np.float32)
    >>> nearest = pymluops.knn(points, np.zeros((1, 1, 3), np.float32), 2)
    >>> nearest.dist2.tolist(), nearest.idx.tolist()
    ([[[1.0, 1.0]]], [[[1, 3]]])
    """
    return NearestPoints(*_KNN(handle, (xyz, new_xyz, dist2, idx), (k,)))
