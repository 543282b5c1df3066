"""Point-wise spatial attention masks, from PSANet (ECCV 2018)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator, integers
from pymluops._work import RULES, per_element
from pymluops.enums import Layout
from pymluops.errors import BadParamError
from pymluops.ops._schema import FLOAT32, Scalar, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["psamask_backward", "psamask_forward"]

_X = "N H W h_mask*w_mask"
_Y = "N H W H*W"
_SCALARS = (
    Scalar("psa_type", choices={"collect": 0, "distribute": 1}),
    Scalar("mask_size", symbol="h_mask"),
    Scalar("mask_size", symbol="w_mask"),
)

# The C function answers BAD_PARAM, not NOT_SUPPORTED, to a tensor that is too large.
_FORWARD = Operator(
    "mluOpPsamaskForward",
    "psamask_forward",
    (
        Tensor("x", FLOAT32, _X, layout=Layout.NHWC),
        Tensor("out", FLOAT32, _Y, output=True, layout=Layout.NHWC, parameter="y"),
    ),
    _SCALARS,
    too_large=BadParamError,
)
_BACKWARD = Operator(
    "mluOpPsamaskBackward",
    "psamask_backward",
    (
        Tensor("dy", FLOAT32, _Y, layout=Layout.NHWC),
        Tensor("out", FLOAT32, _X, output=True, layout=Layout.NHWC, parameter="dx"),
    ),
    _SCALARS,
    too_large=BadParamError,
)

RULES[_FORWARD.function] = RULES[_BACKWARD.function] = per_element(1, 1)


def psamask_forward(
    x: Array, psa_type: str | int, mask_size: int | Sequence[int], *, out: Any = None, handle: Handle | None = None
) -> Any:
    """Spread the mask of every position over the whole feature map.

    A mask is centred on its position. With ``h2 = hi + h - (h_mask - 1) // 2``, and w2 alike, every
    mask cell (hi, wi) that falls on the map, ``0 <= h2 < H`` and ``0 <= w2 < W``, goes to::

        collect:     y[n, h,  w,  h2*W + w2] = x[n, h, w, hi*w_mask + wi]
        distribute:  y[n, h2, w2, h*W  + w ] = x[n, h, w, hi*w_mask + wi]

    All other values of y are 0.

    Parameters
    ----------
    x : array, shape [N, H, W, h_mask*w_mask], float32
        One mask for each position.
    psa_type : {"collect", "distribute"} or {0, 1}
        Which way attention flows.
    mask_size : int or (int, int)
        Height and width of a mask, in positions; each > 0. It may be even, or larger than the map.
    out : array or DeviceArray, optional
        Where to write, shape [N, H, W, H*W], float32; it must not overlap `x`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [N, H, W, H*W] of the kind of the first argument. The
        values are copied bit by bit.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a tensor has 2**31 elements or more. N, H and W may
        be 0.

    References
    ----------
    Zhao et al.: PSANet: Point-wise Spatial Attention Network for Scene Parsing. ECCV 2018.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> x = np.array([[1, 2, 3], [4, 5, 6]], np.float32).reshape(1, 1, 2, 3)  # a map of 1 x 2, masks of 1 x 3
    >>> pymluops.psamask_forward(x, "collect", (1, 3))[0, 0].tolist()
    [[2.0, 3.0], [4.0, 5.0]]
    """
    h_mask, w_mask = integers(_FORWARD, "mask_size", mask_size, 2, 1)
    return _FORWARD(handle, (x, out), (psa_type, h_mask, w_mask))


def psamask_backward(
    dy: Array, psa_type: str | int, mask_size: int | Sequence[int], *, out: Any = None, handle: Handle | None = None
) -> Any:
    """Gradient of `psamask_forward`: gather back from the feature map into the masks.

    With h2 and w2 as there, and 0 for mask cells outside the map::

        collect:     dx[n, h, w, hi*w_mask + wi] = dy[n, h,  w,  h2*W + w2]
        distribute:  dx[n, h, w, hi*w_mask + wi] = dy[n, h2, w2, h*W  + w ]

    Parameters
    ----------
    dy : array, shape [N, H, W, H*W], float32
        Gradient with respect to the output of the forward direction.
    psa_type : {"collect", "distribute"} or {0, 1}
        As in the forward direction.
    mask_size : int or (int, int)
        As in the forward direction.
    out : array or DeviceArray, optional
        Where to write, shape [N, H, W, h_mask*w_mask], float32; it must not overlap `dy`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [N, H, W, h_mask*w_mask] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a tensor has 2**31 elements or more. N, H and W may
        be 0.

    References
    ----------
    Zhao et al.: PSANet: Point-wise Spatial Attention Network for Scene Parsing. ECCV 2018.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> dy = np.array([[1, 2], [3, 4]], np.float32).reshape(1, 1, 2, 2)
    >>> pymluops.psamask_backward(dy, "collect", (1, 3))[0, 0].tolist()
    [[0.0, 1.0, 2.0], [3.0, 4.0, 0.0]]
    """
    h_mask, w_mask = integers(_BACKWARD, "mask_size", mask_size, 2, 1)
    return _BACKWARD(handle, (dy, out), (psa_type, h_mask, w_mask))
