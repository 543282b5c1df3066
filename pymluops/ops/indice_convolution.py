"""Products of a sparse convolution by the pairs of `get_indice_pairs`, from SECOND (Sensors 2018)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pymluops._core import Operator, integers
from pymluops.enums import DataType
from pymluops.ops._schema import FLOATS, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["indice_convolution_backward_data", "indice_convolution_backward_filter", "indice_convolution_forward"]

_FILTERS = "kd kh kw Ci Co"
_PAIRS = Tensor("indice_pairs", INT32, "kd*kh*kw 2 L")
_NUM = Tensor("indice_num", (DataType.INT64,), "kd*kh*kw")
_FLAGS = (Scalar("inverse", minimum=0, maximum=1), Scalar("sub_m", minimum=0, maximum=1))

_FORWARD = Operator(
    "mluOpIndiceConvolutionForward",
    "indice_convolution_forward",
    (
        Tensor("features", FLOATS, "L Ci"),
        Tensor("filters", "features", _FILTERS),
        _PAIRS,
        _NUM,
        Tensor("out", "features", "num_act_out Co", output=True, zero_if="L Ci kd kh kw", parameter="features_out"),
    ),
    (Scalar("num_act_out", minimum=0), *_FLAGS),
    workspace="mluOpGetIndiceConvolutionForwardWorkspaceSize",
)
_BACKWARD_DATA = Operator(
    "mluOpIndiceConvolutionBackwardData",
    "indice_convolution_backward_data",
    (
        Tensor("output_grad", FLOATS, "Y Co"),
        Tensor("filters", "output_grad", _FILTERS),
        _PAIRS,
        _NUM,
        Tensor("out", "output_grad", "L Ci", output=True, zero_if="Y Co kd kh kw", parameter="input_grad"),
    ),
    _FLAGS,
    workspace="mluOpGetIndiceConvolutionBackwardDataWorkspaceSize",
)
_BACKWARD_FILTER = Operator(
    "mluOpIndiceConvolutionBackwardFilter",
    "indice_convolution_backward_filter",
    (
        Tensor("features", FLOATS, "L Ci"),
        Tensor("output_grad", "features", "Y Co"),
        _PAIRS,
        _NUM,
        Tensor("out", "features", _FILTERS, output=True, zero_if="L Y", parameter="filters_grad"),
    ),
    (
        Scalar("kernel_size", minimum=0, symbol="kd"),
        Scalar("kernel_size", minimum=0, symbol="kh"),
        Scalar("kernel_size", minimum=0, symbol="kw"),
        Scalar("inverse", minimum=0, maximum=0),
        Scalar("sub_m", minimum=0, maximum=1),
    ),
    workspace="mluOpGetIndiceConvolutionBackwardFilterWorkspaceSize",
)


def indice_convolution_forward(
    features: Array,
    filters: Array,
    indice_pairs: Array,
    indice_num: Array,
    num_act_out: int,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Convolve sparse features with a 3-D filter.

    For each filter cell k and each pair ``i, o = indice_pairs[k, :, j]`` with ``j <
    indice_num[k]``::

        out[o] += features[i] @ filters[k]

    where `filters` is seen as [K, Ci, Co]. What no pair reaches is 0.

    Parameters
    ----------
    features : array, shape [L, Ci], float16 or float32
        Features of the input rows.
    filters : array, shape [kd, kh, kw, Ci, Co], like `features`
        The filter, which has ``K = kd*kh*kw`` cells.
    indice_pairs : array, shape [K, 2, L], int32
        Input and output rows, as `get_indice_pairs` returns them.
    indice_num : array, shape [K], int64, in host memory
        Number of pairs of each cell, at most L.
    num_act_out : int
        Number of output rows.
    inverse : int
        0. The C function has it, and does not support 1.
    sub_m : int
        1 if the pairs are those of a sub-manifold convolution, else 0. The result does not depend
        on it.
    out : array or DeviceArray, optional
        Where to write, shape [num_act_out, Co], like `features`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [num_act_out, Co] of the kind of `features`. float16 is
        computed in float32 and rounded once. The order of sums does not depend on the number of
        threads.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a pair has a row that does not exist.
    NotSupportedError
        If a tensor has 2**31 elements or more, or `inverse` is 1.

    References
    ----------
    Yan, Mao, Li: SECOND: Sparsely Embedded Convolutional Detection. Sensors 2018, 18(10), 3337.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> voxels = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 3]], np.int32)
    >>> _, pairs, num = pymluops.get_indice_pairs(
    ...     voxels, batch_size=1, spatial_shape=(1, 1, 4), kernel_size=(1, 1, 3), padding=(0, 0, 1), subm=True
    ... )
    >>> features, ones = np.array([[1], [2], [4]], np.float32), np.ones((1, 1, 3, 1, 1), np.float32)
    >>> pymluops.indice_convolution_forward(features, ones, pairs, num.astype(np.int64), 3).ravel().tolist()
    [3.0, 3.0, 4.0]
    """
    return _FORWARD(handle, (features, filters, indice_pairs, indice_num, out), (num_act_out, inverse, sub_m))


def indice_convolution_backward_data(
    output_grad: Array,
    filters: Array,
    indice_pairs: Array,
    indice_num: Array,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Find the gradient of `indice_convolution_forward` with respect to the features.

    For each filter cell k and each pair ``i, o = indice_pairs[k, :, j]`` with ``j <
    indice_num[k]``::

        out[i] += output_grad[o] @ filters[k].T

    Parameters
    ----------
    output_grad : array, shape [Y, Co], float16 or float32
        Gradient with respect to the output rows; at least as many as a cell has pairs.
    filters : array, shape [kd, kh, kw, Ci, Co], like `output_grad`
        The filter, which has ``K = kd*kh*kw`` cells.
    indice_pairs : array, shape [K, 2, L], int32
        Input and output rows, as `get_indice_pairs` returns them.
    indice_num : array, shape [K], int64, in host memory
        Number of pairs of each cell, at most L.
    inverse : int
        0. The C function has it, and does not support 1.
    sub_m : int
        1 if the pairs are those of a sub-manifold convolution, else 0: then K is odd, Y is L, and
        the cell in the middle has the most pairs. The result does not depend on it.
    out : array or DeviceArray, optional
        Where to write, shape [L, Ci], like `output_grad`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [L, Ci] of the kind of `output_grad`.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a pair has a row that does not exist.
    NotSupportedError
        If a tensor has 2**31 elements or more, or `inverse` is 1.

    References
    ----------
    Yan, Mao, Li: SECOND: Sparsely Embedded Convolutional Detection. Sensors 2018, 18(10), 3337.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> pairs, num = np.array([[[0, 1], [0, 0]]], np.int32), np.array([2])
    >>> grad, filters = np.array([[1, 10], [5, 5]], np.float32), np.array([[1, 2]], np.float32).reshape(1, 1, 1, 1, 2)
    >>> pymluops.indice_convolution_backward_data(grad, filters, pairs, num).ravel().tolist()
    [21.0, 21.0]
    """
    return _BACKWARD_DATA(handle, (output_grad, filters, indice_pairs, indice_num, out), (inverse, sub_m))


def indice_convolution_backward_filter(
    features: Array,
    output_grad: Array,
    indice_pairs: Array,
    indice_num: Array,
    kernel_size: int | Sequence[int],
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Find the gradient of `indice_convolution_forward` with respect to the filter.

    For each filter cell k, with ``i, o = indice_pairs[k, :, j]``::

        out[k] = sum over j < indice_num[k] of outer(features[i], output_grad[o])

    where `out` is seen as [K, Ci, Co].

    Parameters
    ----------
    features : array, shape [L, Ci], float16 or float32
        Features of the input rows.
    output_grad : array, shape [Y, Co], like `features`
        Gradient with respect to the output rows.
    indice_pairs : array, shape [K, 2, L], int32
        Input and output rows, as `get_indice_pairs` returns them.
    indice_num : array, shape [K], int64, in host memory
        Number of pairs of each cell, at most L.
    kernel_size : int or (int, int, int)
        Size of the filter; its product is K.
    inverse : int
        0. The C function has it, and refuses anything else.
    sub_m : int
        1 if the pairs are those of a sub-manifold convolution, else 0. The result does not depend
        on it.
    out : array or DeviceArray, optional
        Where to write, shape [*kernel_size, Ci, Co], like `features`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [*kernel_size, Ci, Co] of the kind of `features`.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a pair has a row that does not exist.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Yan, Mao, Li: SECOND: Sparsely Embedded Convolutional Detection. Sensors 2018, 18(10), 3337.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> pairs, num = np.array([[[0, 1], [0, 0]]], np.int32), np.array([2])
    >>> features, grad = np.array([[3], [4]], np.float32), np.array([[1, 10], [5, 5]], np.float32)
    >>> pymluops.indice_convolution_backward_filter(features, grad, pairs, num, 1).ravel().tolist()
    [7.0, 70.0]
    """
    cells = integers(_BACKWARD_FILTER, "kernel_size", kernel_size, 3, 0)
    arrays = features, output_grad, indice_pairs, indice_num, out
    return _BACKWARD_FILTER(handle, arrays, (*cells, inverse, sub_m))
