"""Nearest points of two clouds in a plane, the chamfer distance, and the gradients of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pymluops._core import Operator
from pymluops.ops._schema import FLOATS, INT32, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["ChamferDistance", "ChamferGradients", "chamfer_distance_backward", "chamfer_distance_forward"]

_Result = TypeVar("_Result")

_FORWARD = Operator(
    "mluopsExtChamferDistanceForward",
    "chamfer_distance_forward",
    (
        Tensor("xyz1", FLOATS, "B N 2"),
        Tensor("xyz2", "xyz1", "B M 2"),
        Tensor("dist1", "xyz1", "B N", output=True),
        Tensor("dist2", "xyz1", "B M", output=True),
        Tensor("idx1", INT32, "B N", output=True),
        Tensor("idx2", INT32, "B M", output=True),
    ),
)
_BACKWARD = Operator(
    "mluopsExtChamferDistanceBackward",
    "chamfer_distance_backward",
    (
        Tensor("xyz1", FLOATS, "B N 2"),
        Tensor("xyz2", "xyz1", "B M 2"),
        Tensor("idx1", INT32, "B N", within=("M",), axes=("batch", "point")),
        Tensor("idx2", INT32, "B M", within=("N",), axes=("batch", "point")),
        Tensor("grad_dist1", "xyz1", "B N"),
        Tensor("grad_dist2", "xyz1", "B M"),
        Tensor("grad_xyz1", "xyz1", "B N 2", output=True),
        Tensor("grad_xyz2", "xyz1", "B M 2", output=True),
    ),
)


class ChamferDistance(NamedTuple, Generic[_Result]):
    """What `chamfer_distance_forward` returns.

    Attributes
    ----------
    dist1 : array, shape [B, N], like the points
        Squared distances of the first points from the nearest of the second ones.
    dist2 : array, shape [B, M], like the points
        Those of the second points.
    idx1 : array, shape [B, N], int32
        Numbers of the second points nearest to the first ones.
    idx2 : array, shape [B, M], int32
        Numbers of the first points nearest to the second ones.
    """

    dist1: _Result
    dist2: _Result
    idx1: _Result
    idx2: _Result


class ChamferGradients(NamedTuple, Generic[_Result]):
    """What `chamfer_distance_backward` returns.

    Attributes
    ----------
    grad_xyz1 : array, shape [B, N, 2], like the points
        Gradient of the first points.
    grad_xyz2 : array, shape [B, M, 2], like the points
        Gradient of the second points.
    """

    grad_xyz1: _Result
    grad_xyz2: _Result


def chamfer_distance_forward(
    xyz1: Array,
    xyz2: Array,
    *,
    dist1: Any = None,
    dist2: Any = None,
    idx1: Any = None,
    idx2: Any = None,
    handle: Handle | None = None,
) -> ChamferDistance[Any]:
    """Find the nearest point of the other cloud for each point of two clouds in a plane.

    Distances are squared, and every step of them is rounded to the type of the points. Of equally
    near points the first one counts. A distance of NaN does not count; if all are NaN, the result
    is point 0 and its distance. Next to a cloud without points, distances and numbers are 0.

    Parameters
    ----------
    xyz1 : array, shape [B, N, 2], float16 or float32
        The first cloud of each of B batches.
    xyz2 : array, shape [B, M, 2], like `xyz1`
        The second cloud.
    dist1, dist2 : array or DeviceArray, optional
        Where to write the distances, shapes [B, N] and [B, M], like `xyz1`; they must not overlap
        another argument.
    idx1, idx2 : array or DeviceArray, optional
        Where to write the numbers, shapes [B, N] and [B, M], int32; they must not overlap another
        argument.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    ChamferDistance
        A named tuple ``(dist1, dist2, idx1, idx2)``: the arrays given, or new ones of the kind of
        the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described. Any size may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    Notes
    -----
    float16 and float32 points are found by a tree over each cloud where both have at least 256,
    which takes up to 64 bytes for each point of a batch; float64 points look at all others.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> xyz1, xyz2 = np.array([[[0, 0], [3, 0]]], np.float32), np.array([[[1, 0], [0, 2], [5, 0]]], np.float32)
    >>> found = pymluops.chamfer_distance_forward(xyz1, xyz2)
    >>> found.dist1.tolist(), found.idx2.tolist()
    ([[1.0, 4.0]], [[0, 0, 1]])
    """
    return ChamferDistance(*_FORWARD(handle, (xyz1, xyz2, dist1, dist2, idx1, idx2)))


def chamfer_distance_backward(
    xyz1: Array,
    xyz2: Array,
    idx1: Array,
    idx2: Array,
    grad_dist1: Array,
    grad_dist2: Array,
    *,
    grad_xyz1: Any = None,
    grad_xyz2: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> ChamferGradients[Any]:
    """Gradients of `chamfer_distance_forward` with respect to both clouds.

    They are added up in the order of the first points, then of the second ones; float16 is added up
    in float32.

    Parameters
    ----------
    xyz1 : array, shape [B, N, 2], float16 or float32
        The first cloud of each of B batches.
    xyz2 : array, shape [B, M, 2], like `xyz1`
        The second cloud.
    idx1 : array, shape [B, N], int32
        Numbers of the nearest second points, 0 to M-1.
    idx2 : array, shape [B, M], int32
        Numbers of the nearest first points, 0 to N-1.
    grad_dist1 : array, shape [B, N], like `xyz1`
        Gradient with respect to the distances of the first points.
    grad_dist2 : array, shape [B, M], like `xyz1`
        Gradient with respect to the distances of the second points.
    grad_xyz1, grad_xyz2 : array or DeviceArray, optional
        Where to write, shapes [B, N, 2] and [B, M, 2], like `xyz1`; they must not overlap another
        argument.
    validate : bool
        Refuse a number out of range and name it; else it contributes nothing.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    ChamferGradients
        A named tuple ``(grad_xyz1, grad_xyz2)``: the arrays given, or new ones of the kind of the
        first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described. Any size may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> xyz1, xyz2 = np.array([[[0, 0]]], np.float32), np.array([[[1, 2]]], np.float32)
    >>> first, ones = np.zeros((1, 1), np.int32), np.ones((1, 1), np.float32)
    >>> found = pymluops.chamfer_distance_backward(xyz1, xyz2, first, first, ones, ones)
    >>> found.grad_xyz1.tolist(), found.grad_xyz2.tolist()
    ([[[-4.0, -8.0]]], [[[4.0, 8.0]]])
    """
    tensors = (xyz1, xyz2, idx1, idx2, grad_dist1, grad_dist2, grad_xyz1, grad_xyz2)
    return ChamferGradients(*_BACKWARD(handle, tensors, (), validate))
