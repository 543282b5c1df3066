"""Cases of Python functions that call a function of mluops_ext.h: the header's function writes them.

While cases are written, such a call is made once more before it runs, as the operator of the
vendor's header that computes the same, on copies of its arguments. So the file is the one of the
header's function. What that function refuses has no case, and a warning says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pymluops import functions, ops
from pymluops._core import Handle
from pymluops.descriptors import TensorDescriptor
from pymluops.enums import DataType, PoolingMode

__all__ = ["STAND_INS", "Arrays", "CannotWriteError", "Numbers", "StandIn"]

Array = npt.NDArray[Any]
#: The inputs of a call in host memory, by name; an optional one that is missing is None.
Arrays = Mapping[str, Any]
#: The other arguments of a call, by name or symbol.
Numbers = Mapping[str, Any]
StandIn = Callable[[Arrays, Numbers, Handle], object]

_MAXIMUM, _MEAN = 0, 1  # pool_mode of regions


class CannotWriteError(Exception):
    """The vendor's operator does not compute what the call does; the text says why."""


def _need(holds: object, reason: str) -> None:
    if not holds:
        raise CannotWriteError(reason)


def _call(function: str, *arguments: Any, handle: Handle) -> None:
    getattr(functions, function)(*arguments, handle=handle)


def _like(array: Array, *shape: int) -> Array:
    return np.zeros(shape, array.dtype)


# ---- Maps and regions ----------------------------------------------------------------------------


def _carafe(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
    maps, mask = arrays["input"], arrays["mask"]
    output = _like(maps, *mask.shape[:3], maps.shape[3])
    _call("mluOpCarafeForward", _carafe_settings(numbers, handle), maps, mask, output, handle=handle)


def _carafe_backward(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
    given = arrays["input"], arrays["mask"], arrays["grad_output"]
    results = np.zeros_like(given[0]), np.zeros_like(given[1])
    _call("mluOpCarafeBackward", _carafe_settings(numbers, handle), *given, *results, handle=handle)


def _carafe_settings(numbers: Numbers, handle: Handle) -> Any:
    sizes = (numbers[name] for name in ("kernel_size", "group_size", "scale_factor"))
    return functions.CarafeDescriptor(*sizes, backend=handle.backend)


def _roi_align(pool_mode: int) -> StandIn:
    def forward(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
        bins = numbers["pooled_height"], numbers["pooled_width"]
        more = numbers["sampling_ratio"], numbers["spatial_scale"], pool_mode, bool(numbers["aligned"])
        settings = functions.RoiAlignForwardDescriptor(*bins, *more, backend=handle.backend)
        maps, rois = arrays["input"], arrays["rois"]
        output = _like(maps, len(rois), *bins, maps.shape[3])
        places = (None, None) if pool_mode == _MEAN else (np.zeros_like(output), np.zeros_like(output))
        _call("mluOpRoiAlignForward_v2", settings, maps, rois, output, *places, handle=handle)

    return forward


def _roi_align_backward(pool_mode: int) -> StandIn:
    def backward(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
        grads, rois = arrays["grad_output"], arrays["rois"]
        result = _like(grads, numbers["B"], numbers["H"], numbers["W"], grads.shape[3])
        more = numbers["spatial_scale"], numbers["sampling_ratio"], bool(numbers["aligned"]), pool_mode
        places = arrays.get("argmax_x"), arrays.get("argmax_y")
        _call("mluOpRoiAlignBackward_v2", grads, rois, *places, *more, result, handle=handle)

    return backward


def _roi_pool(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
    _need(numbers["rounded"], "the vendor's operator rounds the corners of regions to pixels (rounded=True)")
    maps, rois = arrays["input"], arrays["rois"]
    output = _like(maps, len(rois), numbers["pooled_height"], numbers["pooled_width"], maps.shape[3])
    argmax = np.zeros(output.shape, np.int32)
    given = PoolingMode.MAX, maps, rois, numbers["spatial_scale"]
    _call("mluOpRoiPoolingForward", *given, output, argmax, handle=handle)


def _roi_pool_backward(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
    grads = arrays["grad_output"]
    result = _like(grads, numbers["B"], numbers["H"], numbers["W"], grads.shape[3])
    unused_scale = 1.0
    given = PoolingMode.MAX, grads, arrays["rois"], arrays["argmax"], unused_scale
    _call("mluOpRoiPoolingBackward", *given, result, handle=handle)


# ---- Deformable convolution ----------------------------------------------------------------------

_DEFORMED = "offset", "mask"


def _pads(size: int, results: int, kernel: int, stride: int, pad: int, dilation: int) -> tuple[int, int]:
    """Return how many places stand before and behind an axis, where a convolution has that many results."""
    reach = dilation * (kernel - 1) + 1
    if (size + 2 * pad - reach) // stride + 1 == results:
        return pad, pad
    least = (results - 1) * stride + reach - size - pad
    _need(least + stride > 0, "the output is smaller than that of the vendor's operator for this padding")
    return pad, max(least, 0)


def _deform_settings(arrays: Arrays, numbers: Numbers, kernel: tuple[int, int], handle: Handle) -> Any:
    stride, pad, dilation = ([numbers[f"{name}_{axis}"] for axis in "hw"] for name in ("stride", "pad", "dilation"))
    maps, offset = arrays["input"], arrays["offset"]
    pads: list[int] = []
    for axis in range(2):
        size, results = maps.shape[1 + axis], offset.shape[1 + axis]
        pads += _pads(size, results, kernel[axis], stride[axis], pad[axis], dilation[axis])
    groups, one_image = (numbers["deformable_group"], numbers["conv_group"]), 1
    return functions.DCNDescriptor(pads, stride, dilation, *groups, one_image, backend=handle.backend)


def _deform_conv(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
    filters, maps, offset = arrays["filter"], arrays["input"], arrays["offset"]
    settings = _deform_settings(arrays, numbers, filters.shape[1:3], handle)
    output = _like(maps, *offset.shape[:3], len(filters))
    given = maps, offset, arrays["mask"], filters, None
    _call("mluOpDCNForward", settings, *given, output, handle=handle)


def _deform_conv_data(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
    settings = _deform_settings(arrays, numbers, arrays["filter"].shape[1:3], handle)
    given = [arrays[name] for name in ("input", "offset", "mask", "filter", "grad_output")]
    results = [np.zeros_like(array) for array in given[:3]]
    _call("mluOpDCNBackwardData", settings, *given, *results, handle=handle)


def _deform_conv_weight(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
    kernel = numbers["kernel_h"], numbers["kernel_w"]
    _filter_gradient(arrays, numbers, (*kernel, numbers["group_channels"]), handle)


def _filter_gradient(arrays: Arrays, numbers: Numbers, cells: tuple[int, int, int], handle: Handle) -> None:
    given = [arrays[name] for name in ("input", "offset", "mask", "grad_output")]
    settings = _deform_settings(arrays, numbers, cells[:2], handle)
    result = _like(given[0], given[3].shape[3], *cells)
    _call("mluOpDCNBackwardWeight", settings, *given, result, None, handle=handle)


def _deform_conv_backward(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
    """Both operators that compute these gradients."""
    _deform_conv_data(arrays, numbers, handle)
    _filter_gradient(arrays, numbers, arrays["filter"].shape[1:], handle)


# ---- Batch norm ----------------------------------------------------------------------------------


def _channels_last(values: Array) -> Array:
    """Return [N, C, S] as [N, S, C], or [N, C] for single values."""
    return values[:, :, 0].copy() if values.shape[2] == 1 else np.ascontiguousarray(values.transpose(0, 2, 1))


def _numbers_of_channels(values: Array, count: int) -> tuple[Array, ...]:
    return tuple(np.zeros(values.shape[1], np.float32) for _ in range(count))


def _stats(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
    x = arrays["x"]
    results = _numbers_of_channels(x, 2)
    _call("mluOpSyncBatchNormStats_v2", _channels_last(x), numbers["eps"], *results, handle=handle)


def _gather(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
    mean_all, invstd_all, counts = (arrays[name] for name in ("mean_all", "invstd_all", "count_all"))
    running, momentum = (None, None), 0.0
    given = mean_all, invstd_all, *running, momentum, numbers["eps"], counts
    results = _numbers_of_channels(mean_all, 2)
    _call("mluOpSyncBatchNormGatherStatsWithCounts", *given, *results, handle=handle)


def _elemt(arrays: Arrays, _numbers: Numbers, handle: Handle) -> None:
    x = _channels_last(arrays["x"])
    given = (arrays[name] for name in ("mean", "invstd", "filter", "bias"))
    _call("mluOpSyncBatchNormElemt", x, *given, np.zeros_like(x), handle=handle)


def _reduce(arrays: Arrays, _numbers: Numbers, handle: Handle) -> None:
    values = _channels_last(arrays["dz"]), _channels_last(arrays["x"])
    results, all_wanted = _numbers_of_channels(arrays["x"], 4), (True, True, True)
    given = *values, arrays["mean"], arrays["invstd"]
    _call("mluOpSyncBatchNormBackwardReduce_v2", *given, *results, *all_wanted, handle=handle)


def _backward_elemt(arrays: Arrays, _numbers: Numbers, handle: Handle) -> None:
    values = _channels_last(arrays["diff_y"]), _channels_last(arrays["x"])
    given = (arrays[name] for name in ("mean", "invstd", "filter", "mean_dy", "mean_dy_xmu"))
    _call("mluOpSyncBatchNormBackwardElemt", *values, *given, np.zeros_like(values[0]), handle=handle)


def _backward_elemt_v2(arrays: Arrays, _numbers: Numbers, handle: Handle) -> None:
    values = _channels_last(arrays["diff_y"]), _channels_last(arrays["x"])
    given = (arrays[name] for name in ("mean", "invstd", "filter", "sum_dy", "sum_dy_xmu", "count"))
    _call("mluOpSyncBatchNormBackwardElemtV2", *values, *given, np.zeros_like(values[0]), handle=handle)


# ---- Fourier transforms --------------------------------------------------------------------------

_FORWARD, _INVERSE = 0, 1


def _rows(values: Array) -> Array:
    """Return [A, N, C] or [A, N, C, 2] as rows, the transformed axis last; complex numbers still are two reals."""
    moved = np.moveaxis(values, 1, 2)
    return np.ascontiguousarray(moved).reshape(-1, *moved.shape[2:])


def _transform(values: Array, output: Array, n: int, scale: float, direction: int, handle: Handle) -> None:
    plan = functions.FFTPlan(_described(values), _described(output), [n], handle=handle)
    _call("mluOpExecFFT", plan, values, scale, output, direction, handle=handle)


def _described(values: Array) -> TensorDescriptor:
    """Return a descriptor of rows of reals, or of complex numbers if there are three dims."""
    half = values.dtype == np.float16
    dtype = DataType.HALF if half else DataType.FLOAT
    if values.ndim == _COMPLEX_DIMS:
        dtype = DataType.COMPLEX_HALF if half else DataType.COMPLEX_FLOAT
    return TensorDescriptor(values.shape[:2], dtype)


_COMPLEX_DIMS = 3


def _fft(direction: int) -> StandIn:
    def transform(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
        values = _rows(arrays["input"])
        _transform(values, np.zeros_like(values), values.shape[1], numbers["scale_factor"], direction, handle)

    return transform


def _fft_real(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
    _need(numbers["weight"] == 1, "the vendor's operator has no weights of frequencies (weight=1)")
    values = _rows(arrays["input"])
    output = _like(values, len(values), numbers["frequencies"], 2)
    _transform(values, output, values.shape[1], numbers["scale_factor"], _FORWARD, handle)


def _fft_real_inverse(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
    _need(numbers["weight"] == 2, "the vendor's operator has no weights of frequencies (weight=2)")
    values = _rows(arrays["input"])
    output = _like(values, len(values), numbers["N"])
    _transform(values, output, numbers["N"], numbers["scale_factor"], _INVERSE, handle)


# ---- Losses, optimisers --------------------------------------------------------------------------


def _targets(arrays: Arrays, classes: int) -> Array:
    """Return the classes of rows, where the vendor's operator has the number of classes for none."""
    target = arrays["target"]
    return np.where((target < 0) | (target >= classes), classes, target).astype(target.dtype)


def _focal_loss(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
    values = arrays["input"]
    given = values, _targets(arrays, values.shape[1]), None, numbers["alpha"], numbers["gamma"]
    precise, not_reduced = 1, 0
    _call("mluOpFocalLossSigmoidForward", precise, not_reduced, *given, np.zeros_like(values), handle=handle)


def _focal_loss_backward(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
    _need((arrays["grad_output"] == 1).all(), "the vendor's operator has no grad_output (all of it 1)")
    values = arrays["input"]
    given = values, _targets(arrays, values.shape[1]), None, numbers["alpha"], numbers["gamma"]
    precise, not_reduced = 1, 0
    _call("mluOpFocalLossSigmoidBackward", precise, not_reduced, *given, np.zeros_like(values), handle=handle)


def _adam_w(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
    """The vendor's operator takes float32 gradients only with ``need_remove_nan``, which no finite one notices."""
    gradient = arrays["grad"]
    _need(
        numbers["need_remove_nan"] or np.isfinite(gradient).all(),
        "the vendor's operator takes float32 gradients that are not finite only with need_remove_nan=True",
    )
    settings = functions.AdamWDescriptor(
        numbers["weight_decay"], numbers["grad_scale"], need_remove_nan=True, backend=handle.backend
    )
    tensors = arrays["param"], np.array([numbers["step"]], np.float32), arrays["momentum"], arrays["velocity"]
    rates = numbers["lr"], numbers["beta1"], numbers["beta2"]
    corrections = (1 - numbers[name] ** numbers["step"] for name in ("beta1", "beta2"))
    _call("mluOpAdamW", settings, *tensors, gradient, *rates, *corrections, numbers["epsilon"], handle=handle)


# ---- Points and boxes ----------------------------------------------------------------------------


def _nms2d(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
    boxes, scores = arrays["boxes"], arrays["scores"]
    _need((scores >= 0).all(), "the vendor's operator needs scores of at least 0")
    ops.nms(boxes, scores, numbers["iou_threshold"], len(boxes), offset=numbers["offset"], handle=handle)


def _points_in_boxes(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
    same = numbers["centred"] and np.float32(numbers["margin"]) == np.float32(1e-5)
    _need(same, "the vendor's operator has a margin of 1e-5, and the heights of centres")
    points = arrays["points"]
    result = np.zeros(points.shape[:2], np.int32)
    _call("mluOpPointsInBoxes", points, arrays["boxes"], result, handle=handle)


def _scatter(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
    feats, coors = arrays["feats"], arrays["coors"]
    count = len(feats)
    results = np.zeros_like(feats), np.zeros_like(coors), *(np.zeros(n, np.int32) for n in (count, count, 1))
    _call("mluOpDynamicPointToVoxelForward", numbers["reduce_type"], feats, coors, *results, handle=handle)


def _scatter_backward(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
    names = ("grad_voxel_feats", "feats", "voxel_feats", "point2voxel_map", "voxel_points_count")
    given = [arrays[name] for name in names]
    count = np.array([len(given[0])], np.int32)
    result = np.zeros_like(given[1])
    _call("mluOpDynamicPointToVoxelBackward", numbers["reduce_type"], *given, count, result, handle=handle)


# ---- Sparse convolutions -------------------------------------------------------------------------

_SPACE = 3


def _indice_pairs(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
    names = ("input_space", "filter_space", "output_space", "stride", "pad", "dilation")
    space, kernel, output, stride, pad, dilation = (arrays[name].tolist() for name in names)
    _need(len(space) == _SPACE, "the vendor's operator takes places in three dims")
    _need(not numbers["transpose"], "the vendor's operator takes no transposed convolutions")
    submanifold = bool(numbers["sub_m"])
    ops.get_indice_pairs(
        arrays["indices"], batch_size=numbers["batch"], spatial_shape=space, kernel_size=kernel, stride=stride,
        padding=pad, dilation=dilation, subm=submanifold, out_spatial_shape=None if submanifold else output,
        handle=handle,
    )  # fmt: skip


def _product(function: str, first: str, second: str, result: Callable[[Arrays, Numbers], Array]) -> StandIn:
    def product(arrays: Arrays, numbers: Numbers, handle: Handle) -> None:
        arrays = {**arrays, "filters": _box_of_cells(arrays["filters"])} if "filters" in arrays else arrays
        output, not_submanifold = result(arrays, numbers), 0
        given = arrays[first], arrays[second], arrays["indice_pairs"], arrays["indice_num"].tolist()
        rows = (len(output),) if function.endswith("Forward") else ()
        modes = numbers["inverse"], not_submanifold
        _call(function, *given, *rows, *modes, output, handle=handle)

    return product


def _box_of_cells(filters: Array) -> Array:
    """Return filters [K, Ci, Co] as ones of three dims of cells, of which no product looks at more than the number."""
    return filters.reshape(-1, 1, 1, *filters.shape[1:])


def _rows_of_outputs(arrays: Arrays, numbers: Numbers) -> Array:
    return _like(arrays["features"], numbers["num_act_out"], arrays["filters"].shape[4])


def _rows_of_inputs(arrays: Arrays, numbers: Numbers) -> Array:
    return _like(arrays["output_grad"], numbers["num_act_in"], arrays["filters"].shape[3])


def _filters(arrays: Arrays, _numbers: Numbers) -> Array:
    sizes = arrays["features"].shape[1], arrays["output_grad"].shape[1]
    return _box_of_cells(_like(arrays["features"], len(arrays["indice_pairs"]), *sizes))


#: By the function of mluops_ext.h.
STAND_INS: dict[str, StandIn] = {
    "mluopsExtCarafeForward": _carafe,
    "mluopsExtCarafeBackward": _carafe_backward,
    "mluopsExtRoiAlignForward": _roi_align(_MEAN),
    "mluopsExtRoiAlignBackward": _roi_align_backward(_MEAN),
    "mluopsExtRoiAlignMaxForward": _roi_align(_MAXIMUM),
    "mluopsExtRoiAlignMaxBackward": _roi_align_backward(_MAXIMUM),
    "mluopsExtRoiPoolForward": _roi_pool,
    "mluopsExtRoiPoolBackward": _roi_pool_backward,
    "mluopsExtDeformConvForward": _deform_conv,
    "mluopsExtDeformConvBackwardData": _deform_conv_data,
    "mluopsExtDeformConvBackwardWeight": _deform_conv_weight,
    "mluopsExtDeformConvBackward": _deform_conv_backward,
    "mluopsExtSyncBatchNormStats": _stats,
    "mluopsExtSyncBatchNormGatherStats": _gather,
    "mluopsExtSyncBatchNormElemt": _elemt,
    "mluopsExtSyncBatchNormBackwardReduce": _reduce,
    "mluopsExtSyncBatchNormBackwardElemt": _backward_elemt,
    "mluopsExtSyncBatchNormBackwardElemtV2": _backward_elemt_v2,
    "mluopsExtFftForward": _fft(_FORWARD),
    "mluopsExtFftInverse": _fft(_INVERSE),
    "mluopsExtFftRealForward": _fft_real,
    "mluopsExtFftRealInverse": _fft_real_inverse,
    "mluopsExtSigmoidFocalLossForward": _focal_loss,
    "mluopsExtSigmoidFocalLossBackward": _focal_loss_backward,
    "mluopsExtAdamW": _adam_w,
    "mluopsExtNms2d": _nms2d,
    "mluopsExtPointsInBoxesPart": _points_in_boxes,
    "mluopsExtDynamicScatterForward": _scatter,
    "mluopsExtDynamicScatterBackward": _scatter_backward,
    "mluopsExtGetIndicePairs": _indice_pairs,
    "mluopsExtIndiceConvolutionForward": _product(
        "mluOpIndiceConvolutionForward", "features", "filters", _rows_of_outputs
    ),
    "mluopsExtIndiceConvolutionBackwardData": _product(
        "mluOpIndiceConvolutionBackwardData", "output_grad", "filters", _rows_of_inputs
    ),
    "mluopsExtIndiceConvolutionBackwardFilter": _product(
        "mluOpIndiceConvolutionBackwardFilter", "features", "output_grad", _filters
    ),
}
