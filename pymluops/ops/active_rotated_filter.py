"""All rotations of the filters of oriented convolutions, cells moved by a table (arXiv:1701.01833)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator, integers
from pymluops.ops._schema import FLOATS, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["active_rotated_filter_backward", "active_rotated_filter_forward"]

_FILTERS, _ROTATED, _TABLE = "O I r k k", "O*R I*r k k", "r k k R"
_RULES = ("r in 1 2 4 8 16 32 64 128", "k in 1 3", "R in 2 4 8")

_FORWARD = Operator(
    "mluOpActiveRotatedFilterForward",
    "active_rotated_filter_forward",
    (
        Tensor("input", FLOATS, _FILTERS, positive="O I"),
        Tensor("indices", INT32, _TABLE, rules=_RULES),
        Tensor("out", "input", _ROTATED, output=True, parameter="output"),
    ),
    workspace="mluOpGetActiveRotatedFilterForwardWorkspaceSize",
)
_BACKWARD = Operator(
    "mluopsExtActiveRotatedFilterBackward",
    "active_rotated_filter_backward",
    (
        Tensor("grad_output", FLOATS, _ROTATED),
        Tensor("indices", INT32, _TABLE, rules=_RULES),
        Tensor("out", "grad_output", _FILTERS, output=True, parameter="grad_input"),
    ),
    (Scalar("planes", symbol="O"), Scalar("planes", symbol="I")),
)


def active_rotated_filter_forward(
    input: Array, indices: Array, *, out: Any = None, handle: Handle | None = None
) -> Any:
    """Make all rotations of filters, whose cells a table moves.

    A plane of a filter has E = r * k * k cells, counted through its r orientations, rows and
    columns. In rotation q, cell l goes to a place of the table, which counts from 1::

        place = indices.reshape(E, R)[l, q] - 1
        out.reshape(O, R, I, E)[o, q, i, place] = input.reshape(O, I, E)[o, i, l]

    A place that no cell goes to is 0; of several cells for one place the last one stays. A number
    outside of 1 .. E moves its cell nowhere: places are not counted from 0.

    Parameters
    ----------
    input : array, shape [O, I, r, k, k], float16 or float32
        O filters of I planes with r orientations of k x k cells. r is a power of two, at most 128,
        and k is 1 or 3.
    indices : array, shape [r, k, k, R], int32
        The table for R rotations, 2, 4 or 8: places from 1 to E.
    out : array or DeviceArray, optional
        Where to write, shape [O * R, I * r, k, k], like `input`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [O * R, I * r, k, k] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a dim is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is one for a device.

    References
    ----------
    Zhou et al.: Oriented Response Networks. CVPR 2017, arXiv:1701.01833.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> filters = np.array([5, 7], np.float32).reshape(1, 1, 2, 1, 1)
    >>> indices = np.int32([[1, 2], [2, 1]]).reshape(2, 1, 1, 2)
    >>> pymluops.active_rotated_filter_forward(filters, indices)[:, :, 0, 0].tolist()
    [[5.0, 7.0], [7.0, 5.0]]
    """
    return _FORWARD(handle, (input, indices, out))


def active_rotated_filter_backward(
    grad_output: Array,
    indices: Array,
    planes: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `active_rotated_filter_forward` with respect to its input.

    The gradient of a cell is the sum of those of its places in all rotations, in their order. If
    two cells have the same place in one rotation, both get its gradient.

    Parameters
    ----------
    grad_output : array, shape [O * R, I * r, k, k], float16 or float32
        Gradient with respect to the output of the forward direction.
    indices : array, shape [r, k, k, R], int32
        The table of the forward direction.
    planes : (int, int)
        O and I, the numbers of filters and of their planes.
    out : array or DeviceArray, optional
        Where to write, shape [O, I, r, k, k], like `grad_output`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [O, I, r, k, k] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a dim is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is one for a device.

    References
    ----------
    Zhou et al.: Oriented Response Networks. CVPR 2017, arXiv:1701.01833.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> grad = np.array([[1, 2], [10, 20]], np.float32).reshape(2, 2, 1, 1)
    >>> indices = np.int32([[1, 2], [2, 1]]).reshape(2, 1, 1, 2)
    >>> pymluops.active_rotated_filter_backward(grad, indices, (1, 1)).ravel().tolist()
    [21.0, 12.0]
    """
    filters, each = integers(_BACKWARD, "planes", planes, 2, 1, repeat=False)
    return _BACKWARD(handle, (grad_output, indices, out), (filters, each))
