"""Points within a distance of centres, from PointNet++ (arXiv:1706.02413)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator
from pymluops.ops._schema import FLOATS, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["ball_query", "stack_ball_query"]

# The C function writes nothing for a centre without a point.
_BALL_QUERY = Operator(
    "mluOpBallQuery",
    "ball_query",
    (
        Tensor("new_xyz", FLOATS, "B M 3", positive="B M"),
        Tensor("xyz", "new_xyz", "B N 3"),
        Tensor("out", INT32, "B M nsample", output=True, zeroed=True, parameter="idx"),
    ),
    (
        Scalar("min_radius", minimum=0, infinite=True),
        Scalar("max_radius", minimum=0, infinite=True),
        Scalar("nsample", minimum=0),
    ),
)
_STACK = Operator(
    "mluopsExtStackBallQuery",
    "stack_ball_query",
    (
        Tensor("new_xyz", FLOATS, "M 3", positive="M"),
        Tensor("new_xyz_batch_cnt", INT32, "B", positive="B", counts="M", axes=("batch",)),
        Tensor("xyz", "new_xyz", "N 3"),
        Tensor("xyz_batch_cnt", INT32, "B", counts="N", axes=("batch",)),
        Tensor("out", INT32, "M nsample", output=True, parameter="idx"),
    ),
    (Scalar("max_radius", minimum=0, infinite=True), Scalar("nsample")),
)


def ball_query(
    new_xyz: Array,
    xyz: Array,
    min_radius: float,
    max_radius: float,
    nsample: int,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Find the first points that lie in a shell around each centre.

    A point counts for a centre if its squared distance is 0, or at least ``min_radius**2`` and
    below ``max_radius**2``. The indices of the first `nsample` such points are written in ascending
    order; where there are fewer, the first one fills the other places.

    Parameters
    ----------
    new_xyz : array, shape [B, M, 3], float16 or float32
        The centres.
    xyz : array, shape [B, N, 3], like `new_xyz`
        The points.
    min_radius, max_radius : float
        Radii of the shell, each >= 0.
    nsample : int
        Number of indices for each centre, >= 0.
    out : array or DeviceArray, optional
        Where to write, shape [B, M, nsample], int32; it must not overlap an input. For a centre
        without a point its values stay.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [B, M, nsample] of the kind of the first argument. In a new
        array a centre without a point has zeros.

    Raises
    ------
    BadParamError
        If an argument is not as described, or B or M is 0. N and `nsample` may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Qi et al.: PointNet++. NIPS 2017, arXiv:1706.02413.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> points = np.array([[[9, 0, 0], [1, 0, 0], [0, 1, 0]]], np.float32)
    >>> pymluops.ball_query(np.zeros((1, 1, 3), np.float32), points, 0, 2, 3).tolist()
    [[[1, 2, 1]]]
    """
    return _BALL_QUERY(handle, (new_xyz, xyz, out), (min_radius, max_radius, nsample))


def stack_ball_query(
    new_xyz: Array,
    new_xyz_batch_cnt: Array,
    xyz: Array,
    xyz_batch_cnt: Array,
    max_radius: float,
    nsample: int,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any:
    """Find the first points in a ball around each centre, in batches of different sizes.

    A point counts if its squared distance is below ``max_radius**2``. The indices of the first
    `nsample` such points of the batch are written in ascending order; where there are fewer, the
    first one fills the other places.

    Parameters
    ----------
    new_xyz : array, shape [M, 3], float16 or float32
        The centres of all batches, those of the first batch first.
    new_xyz_batch_cnt : array, shape [B], int32
        How many centres each batch has; their sum is M. Centres beyond it belong to the last batch.
    xyz : array, shape [N, 3], like `new_xyz`
        The points of all batches.
    xyz_batch_cnt : array, shape [B], int32
        How many points each batch has; their sum is N. Points beyond it belong to the last batch.
    max_radius : float
        Radius of the ball, >= 0.
    nsample : int
        Number of indices for each centre, >= 1.
    out : array or DeviceArray, optional
        Where to write, shape [M, nsample], int32; it must not overlap an input.
    validate : bool
        Refuse counts below 0, and counts of more rows than there are. If False, a negative count is
        0, and rows end where there are no more. Counts in device memory are not looked at.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [M, nsample] of the kind of the first argument. Indices count
        from the first point of the batch. A centre without a point has -1, then zeros.

    Raises
    ------
    BadParamError
        If an argument is not as described, or M or B is 0. N may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Shi et al.: PV-RCNN. CVPR 2020, arXiv:1912.13192.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> points = np.array([[9, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    >>> centres, one_each = np.zeros((2, 3), np.float32), np.array([1, 1], np.int32)
    >>> counts = np.array([1, 2], np.int32)
    >>> pymluops.stack_ball_query(centres, one_each, points, counts, 2, 3).tolist()
    [[-1, 0, 0], [0, 1, 0]]
    """
    arrays = (new_xyz, new_xyz_batch_cnt, xyz, xyz_batch_cnt, out)
    return _STACK(handle, arrays, (max_radius, nsample), validate)
