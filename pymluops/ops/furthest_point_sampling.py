"""Points that are far from each other, picked one after another, from PointNet++ (arXiv:1706.02413)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pymluops._core import Operator
from pymluops.ops._schema import FLOATS, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = [
    "FurthestPoints",
    "furthest_point_sampling",
    "furthest_point_sampling_with_dist",
    "stack_furthest_point_sampling",
]

_Result = TypeVar("_Result")

_PLAIN = Operator(
    "mluopsExtFurthestPointSampling",
    "furthest_point_sampling",
    (
        Tensor("xyz", FLOATS, "B N 3", positive="B N"),
        Tensor("dist2", "xyz", "B N", output=True),
        Tensor("idx", INT32, "B M", output=True),
    ),
    (
        Scalar("num_samples", symbol="M", minimum=0),
        Scalar("max_squared_distance", minimum=0, infinite=True),
        Scalar("min_squared_norm", infinite=True),
    ),
)
_WITH_DIST = Operator(
    "mluopsExtFurthestPointSamplingWithDist",
    "furthest_point_sampling_with_dist",
    (
        Tensor("dist", FLOATS, "B N N", positive="B N"),
        Tensor("min_dist", "dist", "B N", output=True),
        Tensor("idx", INT32, "B M", output=True),
    ),
    (Scalar("num_samples", symbol="M", minimum=0), Scalar("max_distance", minimum=0, infinite=True)),
)
_STACK = Operator(
    "mluopsExtStackFurthestPointSampling",
    "stack_furthest_point_sampling",
    (
        Tensor("xyz", FLOATS, "N 3", positive="N"),
        Tensor("xyz_batch_cnt", INT32, "B", positive="B", counts="N", axes=("batch",)),
        Tensor("num_samples", INT32, "B", counts="M", axes=("batch",)),
        Tensor("dist2", "xyz", "N", output=True),
        Tensor("idx", INT32, "M", output=True),
    ),
    (Scalar("total_samples", symbol="M", minimum=0), Scalar("max_squared_distance", minimum=0, infinite=True)),
)


class FurthestPoints(NamedTuple, Generic[_Result]):
    """What the functions for furthest point sampling return.

    Attributes
    ----------
    distances : array, shape [B, N] or [N], like the points
        The least distance of each point from the picks but the last one.
    idx : array, shape [B, M] or [M], int32
        The numbers of the picks.
    """

    distances: _Result
    idx: _Result


def furthest_point_sampling(
    xyz: Array,
    num_samples: int,
    max_squared_distance: float = float("inf"),
    min_squared_norm: float = -1.0,
    *,
    dist2: Any = None,
    idx: Any = None,
    handle: Handle | None = None,
) -> FurthestPoints[Any]:
    """Pick points one after another, each the one that lies furthest from all picks before it.

    The first pick is point 0. Of points at equal distances the first is picked. A point with a
    coordinate that is not finite is not picked, but as the first. Where there are more picks than
    points, the rest are the first of those that can be picked again.

    Parameters
    ----------
    xyz : array, shape [B, N, 3], float16 or float32
        The points.
    num_samples : int
        Number of picks M, >= 0.
    max_squared_distance : float
        Points that are further from the picks than this, squared, count as at this distance.
    min_squared_norm : float
        Points with ``x**2 + y**2 + z**2`` of at most this are not picked, but as the first; some
        programs mark missing points by zeros. Below 0 all points can be picked.
    dist2 : array or DeviceArray, optional
        Where to write the distances, shape [B, N], like `xyz`; it must not overlap another
        argument.
    idx : array or DeviceArray, optional
        Where to write the picks, shape [B, M], int32; it must not overlap another argument.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    FurthestPoints
        A named tuple ``(distances, idx)``: the arrays given, or new ones of the kind of `xyz`. The
        distances are squared; a point that cannot be picked has `max_squared_distance`.

    Raises
    ------
    BadParamError
        If an argument is not as described, or B or N is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Qi et al.: PointNet++. NIPS 2017, arXiv:1706.02413.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> points = np.array([[[0, 0, 0], [1, 0, 0], [9, 0, 0], [5, 0, 0]]], np.float32)
    >>> pymluops.furthest_point_sampling(points, 3).idx.tolist()
    [[0, 2, 3]]
    """
    scalars = (num_samples, max_squared_distance, min_squared_norm)
    return FurthestPoints(*_PLAIN(handle, (xyz, dist2, idx), scalars))


def furthest_point_sampling_with_dist(
    dist: Array,
    num_samples: int,
    max_distance: float = float("inf"),
    *,
    min_dist: Any = None,
    idx: Any = None,
    handle: Handle | None = None,
) -> FurthestPoints[Any]:
    """Pick points one after another, by a matrix of the distances between them.

    It is `furthest_point_sampling` with ``dist[b, i, k]`` in place of the squared distance of point
    k from point i. A NaN makes no distance smaller.

    Parameters
    ----------
    dist : array, shape [B, N, N], float16 or float32
        The distances.
    num_samples : int
        Number of picks M, >= 0.
    max_distance : float
        Greater distances count as this one.
    min_dist : array or DeviceArray, optional
        Where to write the distances, shape [B, N], like `dist`; it must not overlap another
        argument.
    idx : array or DeviceArray, optional
        Where to write the picks, shape [B, M], int32; it must not overlap another argument.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    FurthestPoints
        A named tuple ``(distances, idx)``: the arrays given, or new ones of the kind of `dist`.

    Raises
    ------
    BadParamError
        If an argument is not as described, or B or N is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Yang et al.: 3DSSD. CVPR 2020, arXiv:2002.10187.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> places = np.array([0, 1, 9, 5], np.float32)
    >>> distances = np.abs(places[:, None] - places)[None]
    >>> pymluops.furthest_point_sampling_with_dist(distances, 3).idx.tolist()
    [[0, 2, 3]]
    """
    return FurthestPoints(*_WITH_DIST(handle, (dist, min_dist, idx), (num_samples, max_distance)))


def stack_furthest_point_sampling(
    xyz: Array,
    xyz_batch_cnt: Array,
    num_samples: Array,
    total_samples: int,
    max_squared_distance: float = float("inf"),
    *,
    dist2: Any = None,
    idx: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> FurthestPoints[Any]:
    """Pick points of batches of different sizes, as `furthest_point_sampling` does of each.

    Parameters
    ----------
    xyz : array, shape [N, 3], float16 or float32
        The points of all batches, those of the first batch first.
    xyz_batch_cnt : array, shape [B], int32
        How many points each batch has; their sum is N. Points beyond it belong to the last batch.
    num_samples : array, shape [B], int32
        Number of picks of each batch. Those of a batch without points are -1.
    total_samples : int
        Their sum M; picks beyond it are of the last batch.
    max_squared_distance : float
        Points that are further from the picks than this, squared, count as at this distance.
    dist2 : array or DeviceArray, optional
        Where to write the distances, shape [N], like `xyz`; it must not overlap another argument.
    idx : array or DeviceArray, optional
        Where to write the picks, shape [M], int32; it must not overlap another argument.
    validate : bool
        Refuse counts below 0, and counts of more rows than there are. If False, a negative count is
        0, and rows end where there are no more. Counts in device memory are not looked at.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    FurthestPoints
        A named tuple ``(distances, idx)``: the arrays given, or new ones of the kind of `xyz`. The
        picks are rows of `xyz`.

    Raises
    ------
    BadParamError
        If an argument is not as described, or N or B is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Shi et al.: PV-RCNN. CVPR 2020, arXiv:1912.13192.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> points = np.array([[0, 0, 0], [1, 0, 0], [9, 0, 0], [5, 0, 0], [6, 0, 0]], np.float32)
    >>> counts, picks = np.array([3, 2], np.int32), np.array([2, 1], np.int32)
    >>> pymluops.stack_furthest_point_sampling(points, counts, picks, 3).idx.tolist()
    [0, 2, 3]
    """
    arrays, scalars = (xyz, xyz_batch_cnt, num_samples, dist2, idx), (total_samples, max_squared_distance)
    return FurthestPoints(*_STACK(handle, arrays, scalars, validate))
