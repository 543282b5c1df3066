"""Numbers of values within their groups, from DSVT (CVPR 2023)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator
from pymluops.ops._schema import INT32, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["ingroup_indices"]

_INDICES = Operator(
    "mluopsExtIngroupIndices",
    "ingroup_indices",
    (Tensor("groups", INT32, "N", positive="N"), Tensor("out", INT32, "N", output=True, parameter="ranks")),
)


def ingroup_indices(groups: Array, *, out: Any = None, handle: Handle | None = None) -> Any:
    """Count for each value the equal ones before it.

    Parameters
    ----------
    groups : array, shape [N], int32
        The group of each element: any numbers.
    out : array or DeviceArray, optional
        Where to write, shape [N], int32; it must not overlap `groups`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [N] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or N is 0.
    NotSupportedError
        If there are 2**31 elements or more, or the library is one for a device.

    References
    ----------
    Wang et al.: DSVT, Dynamic Sparse Voxel Transformer with Rotated Sets. CVPR 2023,
    arXiv:2301.06051.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> pymluops.ingroup_indices(np.array([7, -1, 7, 7, -1], np.int32)).tolist()
    [0, 0, 1, 2, 1]
    """
    return _INDICES(handle, (groups, out))
