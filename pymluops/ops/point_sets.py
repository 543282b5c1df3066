"""Convex hulls of nine points against quadrilaterals, and the smallest rectangles around them (arXiv:2105.11111)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pymluops._core import Operator
from pymluops.ops._schema import FLOAT32, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["ConvexGiou", "convex_giou", "convex_iou", "min_area_polygons"]

_Result = TypeVar("_Result")

_SETS = Tensor("pointsets", FLOAT32, "N 18")

_IOU = Operator(
    "mluopsExtConvexIou",
    "convex_iou",
    (
        _SETS,
        Tensor("polygons", "pointsets", "K 8"),
        Tensor("out", "pointsets", "N K", output=True, parameter="ious"),
    ),
)
_GIOU = Operator(
    "mluopsExtConvexGiou",
    "convex_giou",
    (
        _SETS,
        Tensor("polygons", "pointsets", "N 8"),
        Tensor("gious", "pointsets", "N", output=True),
        Tensor("gradients", "pointsets", "N 18", output=True),
    ),
)
_RECTANGLES = Operator(
    "mluopsExtMinAreaPolygons",
    "min_area_polygons",
    (_SETS, Tensor("out", "pointsets", "N 8", output=True, parameter="polygons")),
)


class ConvexGiou(NamedTuple, Generic[_Result]):
    """What `convex_giou` returns.

    Attributes
    ----------
    gious : array, shape [N], like the points
        Generalised IoU of each row.
    gradients : array, shape [N, 18], like the points
        Its gradient by the points.
    """

    gious: _Result
    gradients: _Result


def convex_iou(pointsets: Array, polygons: Array, *, out: Any = None, handle: Handle | None = None) -> Any:
    """Divide the area that hulls of nine points and quadrilaterals have in common by that of both together.

    All pairs are compared. The areas are exact, except for rounding, and computed in float64.

    Parameters
    ----------
    pointsets : array, shape [N, 18], float32
        x and y of nine points, of which the convex hull is compared.
    polygons : array, shape [K, 8], like `pointsets`
        x and y of four corners in their order around, in either direction; no edge crosses another.
    out : array or DeviceArray, optional
        Where to write, shape [N, K], like `pointsets`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of the kind of the first argument. A pair is NaN if a number of it is
        not finite, or neither has an area.

    Raises
    ------
    BadParamError
        If an argument is not as described. N and K may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is one for a device.

    References
    ----------
    Li et al.: Oriented RepPoints for Aerial Object Detection. CVPR 2022, arXiv:2105.11111.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> points = np.array([[0, 0, 4, 0, 4, 2, 0, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]], np.float32)
    >>> pymluops.convex_iou(points, np.array([[0, 0, 0, 2, 2, 2, 2, 0]], np.float32)).tolist()
    [[0.5]]
    """
    return _IOU(handle, (pointsets, polygons, out))


def convex_giou(
    pointsets: Array, polygons: Array, *, gious: Any = None, gradients: Any = None, handle: Handle | None = None
) -> ConvexGiou[Any]:
    """Find the generalised IoU of hulls of nine points and quadrilaterals in the same rows, and its gradient.

    The generalised IoU is intersection over union, less the part of the hull around both that
    belongs to neither. Points that are no corners of their hull have no gradient, and of several in
    the same place the first one has it all. Where an edge or a corner of the quadrilateral lies on
    an edge of the hull, a change in one direction differs from that in the other, and the gradient
    is the one of mmcv's order of cuts, unless the gradient of the common area by a corner would
    be larger than both of its edges are long together, which no other is. Numbers are computed in
    float64.

    Parameters
    ----------
    pointsets : array, shape [N, 18], float32
        x and y of nine points, of which the convex hull is compared.
    polygons : array, shape [N, 8], like `pointsets`
        x and y of four corners in their order around, in either direction; no edge crosses another.
    gious, gradients : array or DeviceArray, optional
        Where to write, shapes [N] and [N, 18], like `pointsets`; they must not overlap another
        argument.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    ConvexGiou
        A named tuple ``(gious, gradients)``: the arrays given, or new ones of the kind of the first
        argument. A row with a number that is not finite has NaN, and a gradient of 0.

    Raises
    ------
    BadParamError
        If an argument is not as described. N may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is one for a device.

    References
    ----------
    Li et al.: Oriented RepPoints for Aerial Object Detection. CVPR 2022, arXiv:2105.11111.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> points = np.array([[1, 1, 5, 1, 5, 3, 1, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]], np.float32)
    >>> found = pymluops.convex_giou(points, np.array([[-1, 0, 7, 0, 7, 4, -1, 4]], np.float32))
    >>> found.gious.tolist(), found.gradients[0, :4].tolist()
    ([0.25], [-0.03125, -0.0625, 0.03125, -0.0625])
    """
    return ConvexGiou(*_GIOU(handle, (pointsets, polygons, gious, gradients)))


def min_area_polygons(pointsets: Array, *, out: Any = None, handle: Handle | None = None) -> Any:
    """Find the rectangles of the least area around sets of nine points.

    A smallest rectangle has a side along an edge of the convex hull. Edges are tried in their order
    counter-clockwise from the lowest point; of rectangles of equal areas the first one is taken.
    Areas that differ by less than 1e-12 of themselves are equal. All is computed in float64, and
    the corners are rounded to the type of the points.

    Parameters
    ----------
    pointsets : array, shape [N, 18], float32
        x and y of nine points.
    out : array or DeviceArray, optional
        Where to write, shape [N, 8], like `pointsets`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of the kind of the first argument: x and y of four corners. They are 0
        if a point is not finite, or no rectangle has a finite area.

    Raises
    ------
    BadParamError
        If an argument is not as described. N may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is one for a device.

    References
    ----------
    Freeman and Shapira: Determining the minimum-area encasing rectangle for an arbitrary closed
    curve. Communications of the ACM 18, 1975.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> points = np.array([[0, 0, 4, 0, 4, 2, 0, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]], np.float32)
    >>> pymluops.min_area_polygons(points).tolist()
    [[4.0, 0.0, 0.0, 0.0, 0.0, 2.0, 4.0, 2.0]]
    """
    return _RECTANGLES(handle, (pointsets, out))
