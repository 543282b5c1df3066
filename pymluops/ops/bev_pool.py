"""Sums of rows for the cells of a bird's-eye view, the pooling of BEVFusion (arXiv:2205.13542)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator, integers
from pymluops.ops._schema import FLOAT32, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["bev_pool_backward", "bev_pool_forward"]

_CELLS = "B D H W C"
_LENGTHS = Tensor("interval_lengths", INT32, "K", positive="K")
_STARTS = Tensor("interval_starts", INT32, "K", spans="interval_lengths N", axes=("interval",))
_GRID = ("H", "W", "D", "B")

_FORWARD = Operator(
    "mluopsExtBevPoolForward",
    "bev_pool_forward",
    (
        Tensor("features", FLOAT32, "N C", positive="N C"),
        Tensor("geometry", INT32, "N 4", within=_GRID, at="interval_starts", axes=("row",)),
        _LENGTHS,
        _STARTS,
        Tensor("out", "features", _CELLS, output=True, parameter="output", positive=_CELLS),
    ),
    tuple(Scalar("grid_size", symbol=symbol) for symbol in "BDHW"),
)
_BACKWARD = Operator(
    "mluopsExtBevPoolBackward",
    "bev_pool_backward",
    (
        Tensor("grad_output", FLOAT32, _CELLS, positive=_CELLS),
        Tensor("geometry", INT32, "N 4", positive="N", within=_GRID, at="interval_starts", axes=("row",)),
        _LENGTHS,
        _STARTS,
        Tensor("out", "grad_output", "N C", output=True, parameter="grad_features"),
    ),
)


def bev_pool_forward(
    features: Array,
    geometry: Array,
    interval_lengths: Array,
    interval_starts: Array,
    grid_size: Sequence[int],
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any:
    """Add up the rows of each interval, for the cell that its first row lies in.

    Interval k has the rows ``interval_starts[k]`` to ``interval_starts[k] + interval_lengths[k] -
    1``. With (h, w, d, b) the geometry of its first row, ``out[b, d, h, w]`` is their sum. Cells
    without an interval are 0. An interval lies within the rows, and its cell within the grid.

    Parameters
    ----------
    features : array, shape [N, C], float32
        The rows, those of a cell one after another.
    geometry : array, shape [N, 4], int32
        Cell of each row: along height, width and depth, and batch.
    interval_lengths : array, shape [K], int32
        Number of rows of each interval.
    interval_starts : array, shape [K], int32
        First row of each interval.
    grid_size : (int, int, int, int)
        Sizes of the grid: batches B, depth D, height H and width W.
    out : array or DeviceArray, optional
        Where to write, shape [B, D, H, W, C], like `features`; it must not overlap an input.
    validate : bool
        Refuse intervals that reach beyond the rows, and those whose cell lies beyond the grid. If
        False, such an interval does not count. Arrays in device memory are not looked at.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [B, D, H, W, C] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a dim is 0; an interval or a cell out of range is
        named.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is one for a device.

    References
    ----------
    Liu et al.: BEVFusion. ICRA 2023, arXiv:2205.13542.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> features = np.array([[1], [2], [4]], np.float32)
    >>> geometry = np.array([[0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]], np.int32)
    >>> lengths, starts = np.array([2, 1], np.int32), np.array([0, 2], np.int32)
    >>> pymluops.bev_pool_forward(features, geometry, lengths, starts, (1, 1, 1, 2)).ravel().tolist()
    [4.0, 3.0]
    """
    sizes = integers(_FORWARD, "grid_size", grid_size, 4, 1, repeat=False)
    return _FORWARD(handle, (features, geometry, interval_lengths, interval_starts, out), tuple(sizes), validate)


def bev_pool_backward(
    grad_output: Array,
    geometry: Array,
    interval_lengths: Array,
    interval_starts: Array,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `bev_pool_forward` with respect to its features.

    Each row of an interval gets the gradient of the interval's cell. Rows that are in no interval
    get 0.

    Parameters
    ----------
    grad_output : array, shape [B, D, H, W, C], float32
        Gradient with respect to the output of the forward direction.
    geometry : array, shape [N, 4], int32
        Cell of each row: along height, width and depth, and batch.
    interval_lengths : array, shape [K], int32
        Number of rows of each interval.
    interval_starts : array, shape [K], int32
        First row of each interval.
    out : array or DeviceArray, optional
        Where to write, shape [N, C], like `grad_output`; it must not overlap an input.
    validate : bool
        Refuse intervals that reach beyond the rows, and those whose cell lies beyond the grid. If
        False, such an interval does not count. Arrays in device memory are not looked at.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [N, C] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a dim is 0; an interval or a cell out of range is
        named.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is one for a device.

    References
    ----------
    Liu et al.: BEVFusion. ICRA 2023, arXiv:2205.13542.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> grad = np.array([4, 3], np.float32).reshape(1, 1, 1, 2, 1)
    >>> geometry = np.array([[0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]], np.int32)
    >>> lengths, starts = np.array([2, 1], np.int32), np.array([0, 2], np.int32)
    >>> pymluops.bev_pool_backward(grad, geometry, lengths, starts).ravel().tolist()
    [3.0, 3.0, 4.0]
    """
    return _BACKWARD(handle, (grad_output, geometry, interval_lengths, interval_starts, out), (), validate)
