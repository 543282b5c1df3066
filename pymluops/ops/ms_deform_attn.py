"""Multi-scale deformable attention, from Deformable DETR (arXiv:2010.04159)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pymluops._core import Operator
from pymluops.ops._schema import FLOAT32, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["MsDeformAttnGradients", "ms_deform_attn_backward", "ms_deform_attn_forward"]

_Result = TypeVar("_Result")

_VALUE = "B K M C"
_LOCATIONS = "B Q M L P 2"
_WEIGHTS = "B Q M L P"
_OUTPUT = "B Q M C"

#: The C function checks it, and only if there are samples.
_IM2COL_STEP = Scalar("im2col_step", minimum=-(2**31))

_FORWARD = Operator(
    "mluOpMsDeformAttnForward",
    "ms_deform_attn_forward",
    (
        Tensor("value", FLOAT32, _VALUE, positive="B M C", parameter="data_value"),
        Tensor("spatial_shapes", INT32, "L 2", parameter="data_spatial_shapes"),
        Tensor("level_start_index", INT32, "L", parameter="data_level_start_index"),
        Tensor("sampling_loc", FLOAT32, _LOCATIONS, positive="Q", parameter="data_sampling_loc"),
        Tensor("attn_weight", FLOAT32, _WEIGHTS, parameter="data_attn_weight"),
        Tensor("out", FLOAT32, _OUTPUT, output=True, parameter="data_col"),
    ),
    (_IM2COL_STEP,),
)
# Without levels or points the C function writes nothing.
_BACKWARD = Operator(
    "mluOpMsDeformAttnBackward",
    "ms_deform_attn_backward",
    (
        Tensor("value", FLOAT32, _VALUE, positive="B M C"),
        Tensor("spatial_shapes", INT32, "L 2"),
        Tensor("level_start_index", INT32, "L"),
        Tensor("sampling_loc", FLOAT32, _LOCATIONS, positive="Q"),
        Tensor("attn_weight", FLOAT32, _WEIGHTS),
        Tensor("grad_output", FLOAT32, _OUTPUT, any_size=True),
        Tensor("grad_value", FLOAT32, _VALUE, output=True, zero_if="L P"),
        Tensor("grad_sampling_loc", FLOAT32, _LOCATIONS, output=True),
        Tensor("grad_attn_weight", FLOAT32, _WEIGHTS, output=True),
    ),
    (_IM2COL_STEP,),
)


class MsDeformAttnGradients(NamedTuple, Generic[_Result]):
    """What `ms_deform_attn_backward` returns.

    Attributes
    ----------
    grad_value : array, shape [B, K, M, C], float32
        Gradient with respect to `value`.
    grad_sampling_loc : array, shape [B, Q, M, L, P, 2], float32
        Gradient with respect to `sampling_loc`.
    grad_attn_weight : array, shape [B, Q, M, L, P], float32
        Gradient with respect to `attn_weight`.
    """

    grad_value: _Result
    grad_sampling_loc: _Result
    grad_attn_weight: _Result


def ms_deform_attn_forward(
    value: Array,
    spatial_shapes: Array,
    level_start_index: Array,
    sampling_loc: Array,
    attn_weight: Array,
    im2col_step: int,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Sum samples of several maps, weighted, for each query and head.

    With ``x = loc_x * W_l - 0.5`` and ``y = loc_y * H_l - 0.5``::

        out[b, q, m] = sum over l, p of
            attn_weight[b, q, m, l, p] * bilinear(map l of value[b, :, m], y, x)

    A sample counts if ``-1 < x < W_l`` and ``-1 < y < H_l``; pixels outside of the map are 0.

    Parameters
    ----------
    value : array, shape [B, K, M, C], float32
        K keys of M heads with C channels each: the pixels of L maps, row by row.
    spatial_shapes : array, shape [L, 2], int32
        Height and width of each map.
    level_start_index : array, shape [L], int32
        The key with which each map begins.
    sampling_loc : array, shape [B, Q, M, L, P, 2], float32
        For each query, head and map the x and y of P samples; 0 and 1 are the edges of the map.
    attn_weight : array, shape [B, Q, M, L, P], float32
        Weights of the samples.
    im2col_step : int
        At least B, or a divisor of B. The result does not depend on it.
    out : array or DeviceArray, optional
        Where to write, shape [B, Q, M, C], float32; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [B, Q, M, C] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, a map does not lie within the K keys, or B, M, C or Q is
        0. K, L and P may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Zhu et al.: Deformable DETR. ICLR 2021, arXiv:2010.04159.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> value = np.array([1, 2, 3, 4], np.float32).reshape(1, 4, 1, 1)  # a map of 2 x 2
    >>> shapes, starts = np.array([[2, 2]], np.int32), np.array([0], np.int32)
    >>> places, weights = np.full((1, 1, 1, 1, 1, 2), 0.5, np.float32), np.ones((1, 1, 1, 1, 1), np.float32)
    >>> pymluops.ms_deform_attn_forward(value, shapes, starts, places, weights, 1).item()
    2.5
    """
    inputs = value, spatial_shapes, level_start_index, sampling_loc, attn_weight
    return _FORWARD(handle, (*inputs, out), (im2col_step,))


def ms_deform_attn_backward(
    value: Array,
    spatial_shapes: Array,
    level_start_index: Array,
    sampling_loc: Array,
    attn_weight: Array,
    grad_output: Array,
    im2col_step: int,
    *,
    grad_value: Any = None,
    grad_sampling_loc: Any = None,
    grad_attn_weight: Any = None,
    handle: Handle | None = None,
) -> MsDeformAttnGradients[Any]:
    """Gradients of `ms_deform_attn_forward`.

    Samples that do not count have gradients of 0.

    Parameters
    ----------
    value : array, shape [B, K, M, C], float32
        K keys of M heads with C channels each: the pixels of L maps, row by row.
    spatial_shapes : array, shape [L, 2], int32
        Height and width of each map.
    level_start_index : array, shape [L], int32
        The key with which each map begins.
    sampling_loc : array, shape [B, Q, M, L, P, 2], float32
        For each query, head and map the x and y of P samples; 0 and 1 are the edges of the map.
    attn_weight : array, shape [B, Q, M, L, P], float32
        Weights of the samples.
    grad_output : array, shape [B, Q, M, C], float32
        Gradient with respect to the output of the forward direction.
    im2col_step : int
        At least B, or a divisor of B. The result does not depend on it.
    grad_value, grad_sampling_loc, grad_attn_weight : array or DeviceArray, optional
        Where to write, each like the argument it is the gradient of; it must not overlap another
        argument.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    MsDeformAttnGradients
        A named tuple ``(grad_value, grad_sampling_loc, grad_attn_weight)``: the arrays given, or
        new ones of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, a map does not lie within the K keys, or B, M, C or Q is
        0. K, L and P may be 0.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Zhu et al.: Deformable DETR. ICLR 2021, arXiv:2010.04159.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> value = np.array([1, 2, 3, 4], np.float32).reshape(1, 4, 1, 1)  # a map of 2 x 2
    >>> shapes, starts = np.array([[2, 2]], np.int32), np.array([0], np.int32)
    >>> places, weights = np.full((1, 1, 1, 1, 1, 2), 0.5, np.float32), np.ones((1, 1, 1, 1, 1), np.float32)
    >>> grad = np.ones((1, 1, 1, 1), np.float32)
    >>> found = pymluops.ms_deform_attn_backward(value, shapes, starts, places, weights, grad, 1)
    >>> found.grad_value.ravel().tolist(), found.grad_sampling_loc.ravel().tolist(), found.grad_attn_weight.item()
    ([0.25, 0.25, 0.25, 0.25], [2.0, 4.0], 2.5)
    """
    inputs = value, spatial_shapes, level_start_index, sampling_loc, attn_weight, grad_output
    outputs = grad_value, grad_sampling_loc, grad_attn_weight
    return MsDeformAttnGradients(*_BACKWARD(handle, (*inputs, *outputs), (im2col_step,)))
