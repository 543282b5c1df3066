"""The oracles of functions whose arguments are not those of a described operator, as the vendor's header has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pymluops.oracle import (
    aligned_regions,
    box_nms,
    boxes3d,
    carafe_upsample,
    deform_conv,
    fourier_transforms,
    get_indice_pairs,
    indice_convolution,
    logspace,
    moe_dispatch,
    mutual_information,
    optimizer_steps,
    pointwise,
    pooled_regions,
    prior_box,
    sync_batch_norm,
)

__all__ = ["ADAPTERS"]

Arrays = Mapping[str, Any]
Numbers = Mapping[str, Any]
Results = dict[str, Any]


# ---- Sparse convolutions -------------------------------------------------------------------------


def _indice_pairs(arrays: Arrays, numbers: Numbers) -> Results:
    settings = {name: numbers[f"sparse_conv_desc.{name}"] for name in _SPARSE}
    geometry = get_indice_pairs.Geometry(
        settings["batch"],
        settings["input_space"],
        settings["filter_space"],
        settings["stride"],
        settings["pad"],
        settings["dilation"],
        bool(settings["sub_m"]),
        settings["output_space"],
    )
    found = get_indice_pairs.vectorised(arrays["indices"], geometry)
    sites = np.zeros(arrays["out_indices"].shape, np.int32)
    rows = min(len(sites), len(found.out_indices))
    sites[:rows] = found.out_indices[:rows]
    return {"out_indices": sites, "indice_pairs": found.indice_pairs, "indice_num": found.indice_num}


_SPARSE = ("batch", "pad", "stride", "dilation", "input_space", "filter_space", "output_space", "sub_m")


def _convolution(arrays: Arrays, numbers: Numbers) -> Results:
    given = (arrays["features"], arrays["filters"], arrays["indice_pairs"], np.asarray(numbers["indice_num"]))
    return {"features_out": indice_convolution.forward(*given, len(arrays["features_out"]), numbers["inverse"])}


def _convolution_data(arrays: Arrays, numbers: Numbers) -> Results:
    given = (arrays["output_grad"], arrays["filters"], arrays["indice_pairs"], np.asarray(numbers["indice_num"]))
    return {"input_grad": indice_convolution.backward_data(*given, len(arrays["input_grad"]), numbers["inverse"])}


def _convolution_filter(arrays: Arrays, numbers: Numbers) -> Results:
    given = (arrays["features"], arrays["output_grad"], arrays["indice_pairs"], np.asarray(numbers["indice_num"]))
    found = indice_convolution.backward_filter(*given, numbers["inverse"])
    return {"filters_grad": found.reshape(arrays["filters_grad"].shape)}


# ---- Maps and regions ----------------------------------------------------------------------------


def _carafe(arrays: Arrays, numbers: Numbers) -> Results:
    settings = [numbers[f"carafe_desc.{name}"] for name in ("kernel_size", "group_size", "scale_factor")]
    return {"output": carafe_upsample.forward(arrays["input"], arrays["mask"], *settings)}


def _carafe_backward(arrays: Arrays, numbers: Numbers) -> Results:
    settings = [numbers[f"carafe_desc.{name}"] for name in ("kernel_size", "group_size", "scale_factor")]
    maps, mask = carafe_upsample.backward(arrays["input"], arrays["mask"], arrays["grad_output"], *settings)
    return {"grad_input": maps, "grad_mask": mask}


def _roi_align(arrays: Arrays, numbers: Numbers) -> Results:
    scale, ratio, aligned, mode = (
        numbers[f"roialign_desc.{name}"] for name in ("spatial_scale", "sampling_ratio", "aligned", "pool_mode")
    )
    settings = aligned_regions.Settings(arrays["output"].shape[1:3], scale, ratio, bool(aligned))
    if mode:
        return {"output": aligned_regions.forward(arrays["input"], arrays["boxes"], settings)}
    output, y, x = aligned_regions.max_forward(arrays["input"], arrays["boxes"], settings)
    return {"output": output, "argmax_x": x, "argmax_y": y}


def _roi_align_backward(arrays: Arrays, numbers: Numbers) -> Results:
    grads, boxes, shape = arrays["grads"], arrays["boxes"], arrays["grads_image"].shape[:3]
    numbers_of = numbers["spatial_scale"], numbers["sampling_ratio"], bool(numbers["aligned"])
    settings = aligned_regions.Settings(grads.shape[1:3], *numbers_of)
    if numbers.get("pool_mode", 1):
        return {"grads_image": aligned_regions.backward(grads, boxes, settings, shape)}
    place = arrays["argmax_y"], arrays["argmax_x"]
    return {"grads_image": aligned_regions.max_backward(grads, boxes, place, settings, shape)}


def _roi_pool(arrays: Arrays, numbers: Numbers) -> Results:
    bins = arrays["output"].shape[1:3]
    output, argmax = pooled_regions.forward(arrays["input"], arrays["rois"], bins, numbers["spatial_scale"], True)
    return {"output": output, "argmax": argmax}


def _roi_pool_backward(arrays: Arrays, _numbers: Numbers) -> Results:
    shape = arrays["grads_image"].shape[:3]
    return {"grads_image": pooled_regions.backward(arrays["grads"], arrays["rois"], arrays["argmax"], shape)}


# ---- Deformable convolutions ---------------------------------------------------------------------


def _convolve_padded(arrays: Arrays, numbers: Numbers) -> tuple[deform_conv.Inputs, deform_conv.Numbers]:
    """Return the arrays and the numbers; padding below and to the right needs no more than the shape of the offsets."""
    setting = {name.partition(".")[2]: value for name, value in numbers.items() if name.startswith("dcn_desc.")}
    offset = arrays["offset"]
    mask = arrays.get("mask")
    if mask is None:
        mask = np.ones((*offset.shape[:3], offset.shape[3] // 2))
    found = deform_conv.Numbers(
        setting["stride"],
        (setting["pad"][0], setting["pad"][2]),
        setting["dilation"],
        setting["conv_group"],
        setting["deformable_group"],
    )
    kernel = arrays.get("filter")
    if kernel is None:
        kernel = np.zeros(arrays["grad_filter"].shape)
    return deform_conv.Inputs(kernel, arrays["input"], offset, mask), found


def _dcn(arrays: Arrays, numbers: Numbers) -> Results:
    output = deform_conv.forward(*_convolve_padded(arrays, numbers))
    bias = arrays.get("bias")
    return {"output": output if bias is None else output + bias}


def _dcn_data(arrays: Arrays, numbers: Numbers) -> Results:
    found = deform_conv.backward_data(*_convolve_padded(arrays, numbers), arrays["grad_output"])
    return dict(zip(("grad_input", "grad_offset", "grad_mask"), found, strict=True))


def _dcn_weight(arrays: Arrays, numbers: Numbers) -> Results:
    found = deform_conv.backward_weight(*_convolve_padded(arrays, numbers), arrays["grad_output"])
    return {"grad_filter": found, "grad_bias": arrays["grad_output"].sum((0, 1, 2))}


# ---- Batch normalisation -------------------------------------------------------------------------


def _channels(values: np.ndarray) -> np.ndarray:
    """Return values with the channels last as [1, C, S]."""
    return values.reshape(-1, values.shape[-1]).T[None]


def _back(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return np.asarray(values[0].T.reshape(shape))


def _stats(arrays: Arrays, numbers: Numbers) -> Results:
    mean, invstd = sync_batch_norm.stats(_channels(arrays["x"]), numbers["eps"])
    return {"mean": mean, "invstd": invstd}


def _gather(arrays: Arrays, numbers: Numbers) -> Results:
    given = arrays["mean_all"], arrays["invstd_all"], arrays["count_all"], numbers["eps"]
    mean, invstd, variance = sync_batch_norm.gather(*given)
    found = {"mean": mean, "invstd": invstd}
    if arrays.get("moving_mean") is not None:
        momentum = numbers["momentum"]
        found["moving_mean"] = momentum * mean + (1 - momentum) * arrays["moving_mean"]
        found["moving_var"] = momentum * variance + (1 - momentum) * arrays["moving_var"]
    return found


def _elemt(arrays: Arrays, _numbers: Numbers) -> Results:
    x = arrays["x"]
    given = (arrays["mean"], arrays["invstd"], arrays.get("filter"), arrays.get("bias"))
    return {"y": _back(sync_batch_norm.elemt(_channels(x), *given), x.shape)}


def _reduce(arrays: Arrays, _numbers: Numbers) -> Results:
    given = _channels(arrays["dz"]), _channels(arrays["x"]), arrays["mean"], arrays["invstd"]
    names = ("dfilter", "dbias", "sum_dy", "sum_dy_xmu")
    return dict(zip(names, sync_batch_norm.backward_reduce(*given), strict=True))


def _backward_elemt(arrays: Arrays, _numbers: Numbers) -> Results:
    dy, x = arrays["diff_y"], arrays["x"]
    given = (arrays["mean"], arrays["invstd"], arrays.get("filter"))
    if "count" in arrays:
        more = (arrays["sum_dy"], arrays["sum_dy_xmu"], arrays["count"])
        found = sync_batch_norm.backward_elemt_v2(_channels(dy), _channels(x), *given, *more)
    else:
        means = (arrays["mean_dy"], arrays["mean_dy_xmu"])
        found = sync_batch_norm.backward_elemt(_channels(dy), _channels(x), *given, *means)
    return {"diff_x": _back(found, dy.shape)}


# ---- Fourier transforms --------------------------------------------------------------------------


def _fft(arrays: Arrays, numbers: Numbers) -> Results:
    values, real_out = arrays["input"], arrays["output"].dtype.kind != "c"
    lengths = numbers["fft_plan.n"][: numbers["fft_plan.rank"]]
    axes = list(range(-len(lengths), 0))
    if real_out:
        for axis, n in list(zip(axes, lengths, strict=True))[:-1]:
            values = fourier_transforms.complex_to_complex(values, axis, n, 1)
        values = fourier_transforms.complex_to_real(values, axes[-1], lengths[-1])
    else:
        sign = -1
        if values.dtype.kind == "c":
            sign = 1 if numbers["direction"] else -1
            values = fourier_transforms.complex_to_complex(values, axes[-1], lengths[-1], sign)
        else:
            values = fourier_transforms.real_to_complex(values, axes[-1], lengths[-1])
        for axis, n in list(zip(axes, lengths, strict=True))[:-1]:
            values = fourier_transforms.complex_to_complex(values, axis, n, sign)
    return {"output": values * numbers["scale_factor"]}


# ---- Mixtures of experts -------------------------------------------------------------------------


def _dispatch(arrays: Arrays, numbers: Numbers) -> Results:
    names = ("gates", "indices", "locations", "input")
    gates, indices, locations, values = (arrays[name] for name in names)
    sizes = numbers["capacity"], numbers["num_experts"]
    return {"dispatch": moe_dispatch.forward(gates, indices, locations, values, *sizes, before=arrays["dispatch"])}


# ---- Optimisers ----------------------------------------------------------------------------------


def _adam_w(arrays: Arrays, numbers: Numbers) -> Results:
    tensors = [arrays[name] for name in ("param", "momentum", "velocity", "grad")]
    common = {name: numbers[name] for name in ("lr", "beta1", "beta2", "epsilon")}
    common |= {name: numbers[f"adamw_desc.{name}"] for name in ("weight_decay", "grad_scale")}
    if numbers["adamw_desc.need_remove_nan"]:
        step = float(arrays["param_h"].reshape(-1)[0])
        found = optimizer_steps.numbered(*tensors, number=step, keeps=True, **common)
        other = np.full(arrays["param_h"].shape, step + 1)
    else:
        found = optimizer_steps.step(*tensors, bias1=numbers["bias1"], bias2=numbers["bias2"], **common)
        other = found[0]
    return dict(zip(("param", "momentum", "velocity", "param_h"), (*found, other), strict=True))


# ---- Suppression ---------------------------------------------------------------------------------


def _nms(arrays: Arrays, numbers: Numbers) -> Results:
    setting = {name.partition(".")[2]: value for name, value in numbers.items() if name.startswith("nms_desc.")}
    plain = not (setting["output_mode"] or setting["method_mode"] or setting["offset"] or setting["input_layout"])
    boxes = arrays["boxes"].astype(np.float32)
    if not plain or boxes.ndim != 2:
        raise LookupError("no oracle for nms with these settings")
    if boxes.shape[1] == _COLUMNS_3D:
        order = -np.arange(len(boxes), dtype=np.float32)  # of boxes with seven columns the first comes first
        kept = boxes3d.suppression("nms3d", boxes, order, setting["iou_threshold"])
    else:
        corners = box_nms.corners(boxes, bool(setting["box_mode"]))
        scores = arrays["confidence"].astype(np.float32)
        least = float(np.float32(setting["confidence_threshold"]))
        kept = box_nms.suppression(corners, scores, setting["iou_threshold"], 0, least)
    kept = kept[: min(setting["max_output_size"], len(arrays["output"]))]
    output = np.zeros(arrays["output"].shape, np.int32)
    output[: len(kept)] = kept
    return {"output": output, "output_size": np.array([len(kept)], np.int32)}


_COLUMNS_3D = 7

# ---- Results that keep what was there, or have a size of their own -------------------------------


def _mutual_information(arrays: Arrays, _numbers: Numbers) -> Results:
    ans, p = mutual_information.forward(*(arrays[name] for name in ("px", "py", "opt_boundary", "p")))
    return {"p": p, "ans": ans}


def _prior_box(arrays: Arrays, numbers: Numbers) -> Results:
    sizes = [arrays[name] for name in ("min_sizes", "aspect_ratios", "variances", "max_sizes")]
    names = ("height", "width", "im_height", "im_width", "step_h", "step_w", "offset", "clip")
    given = [*(numbers[name] for name in names), numbers["min_max_aspect_ratios_order"]]
    return dict(zip(("output", "var"), prior_box.boxes(*sizes, *given), strict=True))


def _logspace(arrays: Arrays, numbers: Numbers) -> Results:
    result = arrays["res"].copy()
    given = (numbers["start"], numbers["end"], numbers["steps"], numbers["base"])
    result.reshape(-1)[: numbers["steps"]] = logspace.logspace(*given, dtype=result.dtype)
    return {"res": result}


def _sqrt_backward(arrays: Arrays, _numbers: Numbers) -> Results:
    return {"diff_x": pointwise.sqrt_backward(arrays["y"], arrays["diff_y"])}


#: By the operator's name.
ADAPTERS: dict[str, Callable[[Arrays, Numbers], Results]] = {
    "get_indice_pairs": _indice_pairs,
    "indice_convolution_forward": _convolution,
    "indice_convolution_backward_data": _convolution_data,
    "indice_convolution_backward_filter": _convolution_filter,
    "carafe_forward": _carafe,
    "carafe_backward": _carafe_backward,
    "roialign_forward": _roi_align,
    "roi_align_backward": _roi_align_backward,
    "roi_pooling_forward": _roi_pool,
    "roi_pooling_backward": _roi_pool_backward,
    "dcn_forward": _dcn,
    "dcn_backward_data": _dcn_data,
    "dcn_backward_weight": _dcn_weight,
    "sync_batchnorm_stats": _stats,
    "sync_batchnorm_gather_stats_with_counts": _gather,
    "sync_batchnorm_elemt": _elemt,
    "sync_batchnorm_backward_reduce": _reduce,
    "sync_batch_norm_backward_elemt": _backward_elemt,
    "sync_batchnorm_backward_elemt_v2": _backward_elemt,
    "adam_w": _adam_w,
    "fft": _fft,
    "moe_dispatch_forward": _dispatch,
    "nms": _nms,
    "mutual_information_forward": _mutual_information,
    "prior_box": _prior_box,
    "logspace": _logspace,
    "sqrt_backward": _sqrt_backward,
}
