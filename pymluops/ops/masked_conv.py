"""Windows around some cells of a map as columns, and columns back to cells: masked convolution (arXiv:1901.03278)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator, integers
from pymluops.enums import Layout
from pymluops.ops._schema import FLOATS, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["masked_col2im_forward", "masked_im2col_forward"]

_MAP = "1 C H W"
_LEAST = -(2**31)

_IM2COL = Operator(
    "mluOpMaskedIm2colForward",
    "masked_im2col_forward",
    (
        Tensor("feature", FLOATS, _MAP, layout=Layout.NCHW, positive="C H W"),
        Tensor("mask_h_idx", INT32, "K"),
        Tensor("mask_w_idx", INT32, "K"),
        Tensor("out", "feature", "C*kernel_h*kernel_w K", output=True, parameter="data_col"),
    ),
    (
        Scalar("kernel_size", symbol="kernel_h"),
        Scalar("kernel_size", symbol="kernel_w"),
        Scalar("padding", symbol="pad_h", minimum=_LEAST),
        Scalar("padding", symbol="pad_w", minimum=_LEAST),
    ),
    workspace="mluOpGetMaskedIm2colForwardWorkspaceSize",
)
_COL2IM = Operator(
    "mluOpMaskedCol2imForward",
    "masked_col2im_forward",
    (
        Tensor("col", FLOATS, "C K", positive="C"),
        Tensor("mask_h_idx", INT32, "K"),
        Tensor("mask_w_idx", INT32, "K"),
        Tensor("out", "col", _MAP, output=True, layout=Layout.NCHW, parameter="im"),
    ),
    (Scalar("feature_size", symbol="H"), Scalar("feature_size", symbol="W")),
    workspace="mluOpGetMaskedCol2imForwardWorkspaceSize",
)


def masked_im2col_forward(
    feature: Array,
    mask_h_idx: Array,
    mask_w_idx: Array,
    kernel_size: int | Sequence[int],
    padding: int | Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Gather the windows around some cells of a feature map as columns, whose product with a filter is a convolution.

    With kernels of kh x kw cells::

        out[(c * kh + i) * kw + j, k] =
            feature[0, c, mask_h_idx[k] - pad_h + i, mask_w_idx[k] - pad_w + j]

    Beside the map this is 0.

    Parameters
    ----------
    feature : array, shape [1, C, H, W], float16 or float32
        The map of one image.
    mask_h_idx, mask_w_idx : array, shape [K], int32
        Rows and columns of K cells, any integers.
    kernel_size : int or (int, int)
        kh and kw.
    padding : int or (int, int)
        pad_h and pad_w, how far above and left of its cell a window begins.
    out : array or DeviceArray, optional
        Where to write, shape [C * kh * kw, K], like `feature`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [C * kh * kw, K] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or C, H or W is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Wang et al.: Region Proposal by Guided Anchoring. CVPR 2019, arXiv:1901.03278.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> feature = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
    >>> rows, columns = np.int32([1, 0]), np.int32([1, 0])
    >>> pymluops.masked_im2col_forward(feature, rows, columns, (1, 3), (0, 1)).T.tolist()
    [[3.0, 4.0, 5.0], [0.0, 0.0, 1.0]]
    """
    sizes = integers(_IM2COL, "kernel_size", kernel_size, 2, 1)
    pads = integers(_IM2COL, "padding", padding, 2, _LEAST)
    return _IM2COL(handle, (feature, mask_h_idx, mask_w_idx, out), (*sizes, *pads))


def masked_col2im_forward(
    col: Array,
    mask_h_idx: Array,
    mask_w_idx: Array,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Write columns to cells of a map that is 0 elsewhere.

    Parameters
    ----------
    col : array, shape [C, K], float16 or float32
        C values for each of K cells.
    mask_h_idx, mask_w_idx : array, shape [K], int32
        Rows and columns of the cells. Those beside the map are left out; of several columns for one
        cell the last one stays.
    feature_size : (int, int)
        H and W of the map.
    out : array or DeviceArray, optional
        Where to write, shape [1, C, H, W], like `col`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [1, C, H, W] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or C, H or W is 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Wang et al.: Region Proposal by Guided Anchoring. CVPR 2019, arXiv:1901.03278.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> col, rows, columns = np.float32([[7, 8]]), np.int32([0, 1]), np.int32([2, 0])
    >>> pymluops.masked_col2im_forward(col, rows, columns, (2, 3)).tolist()
    [[[[0.0, 0.0, 7.0], [8.0, 0.0, 0.0]]]]
    """
    height, width = integers(_COL2IM, "feature_size", feature_size, 2, 1, repeat=False)
    return _COL2IM(handle, (col, mask_h_idx, mask_w_idx, out), (height, width))
