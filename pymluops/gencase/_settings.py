"""Descriptors with settings, plans and handles, as the parameters of a case have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pymluops import functions
from pymluops._core import Backend, Handle
from pymluops.enums import AdamWDescAttribute, DataType
from pymluops.gencase._binding import Bound

__all__ = ["settings_of"]

Settings = Mapping[str, Any]


_DCN = ("dimnb", "pad", "stride", "dilation", "deformable_group", "conv_group", "im2col_step")


def _set(function: str, made: Any, *values: Any) -> None:
    """Call a function that sets a descriptor."""
    getattr(functions, function)(made, *values)


def _carafe(backend: Backend, s: Settings) -> Any:
    made = functions.mluOpCreateCarafeDescriptor(backend=backend)
    functions.mluOpSetCarafeDescriptor(made, s["dimnb"], s["kernel_size"], s["group_size"], s["scale_factor"])
    return made


def _nms(backend: Backend, s: Settings) -> Any:
    made = functions.mluOpCreateNmsDescriptor(backend=backend)
    names = "box_mode output_mode algo method_mode iou_threshold soft_nms_sigma max_output_size confidence_threshold"
    values: Any = [s[name] for name in f"{names} offset input_layout".split()]
    values.append(bool(s["pad_to_max_output_size"]))
    _set("mluOpSetNmsDescriptor", made, *values)
    return made


def _roi_align(backend: Backend, s: Settings) -> Any:
    made = functions.mluOpCreateRoiAlignForwardDescriptor(backend=backend)
    values = [s[name] for name in ["pooled_height", "pooled_width", "sampling_ratio", "spatial_scale", "pool_mode"]]
    _set("mluOpSetRoiAlignForwardDescriptor_v2", made, *values, bool(s["aligned"]))
    return made


def _adamw(backend: Backend, s: Settings) -> Any:
    made = functions.mluOpCreateAdamWDescriptor(backend=backend)
    functions.mluOpSetAdamWDescAttr(made, AdamWDescAttribute.WEIGHT_DECAY, s["weight_decay"])
    functions.mluOpSetAdamWDescAttr(made, AdamWDescAttribute.GRAD_SCALE, s["grad_scale"])
    functions.mluOpSetAdamWDescAttr(made, AdamWDescAttribute.USE_NESTEROV, bool(s["use_nesterov"]))
    functions.mluOpSetAdamWDescAttr(made, AdamWDescAttribute.NEED_REMOVE_NAN, bool(s["need_remove_nan"]))
    return made


def _dcn(backend: Backend, s: Settings) -> Any:
    made = functions.mluOpCreateDCNDescriptor(backend=backend)
    values: Any = [
        s[name] for name in ["dimnb", "pad", "stride", "dilation", "deformable_group", "conv_group", "im2col_step"]
    ]
    values.append(DataType(s["compute_type"]))
    _set("mluOpSetDCNDescriptor", made, *values)
    return made


def _sparse(backend: Backend, s: Settings) -> Any:
    made = functions.mluOpCreateSparseConvolutionDescriptor(backend=backend)
    lists = [s[name] for name in ["pad", "stride", "dilation", "input_space", "filter_space", "output_space"]]
    _set("mluOpSetSparseConvolutionDescriptor", made, s["dimnb"], s["batch"], *lists, s["sub_m"], 0, 0)
    return made


_MAKERS: dict[str, Callable[[Backend, Settings], Any]] = {
    "carafe_desc": _carafe,
    "nms_desc": _nms,
    "roialign_desc": _roi_align,
    "adamw_desc": _adamw,
    "dcn_desc": _dcn,
    "sparse_conv_desc": _sparse,
}


def settings_of(bound: Bound, handle: Handle) -> dict[str, Any]:
    """Return the descriptors and the plan of a call, by argument; they close themselves when they are dropped."""
    by_descriptor: dict[str, dict[str, Any]] = {}
    for name, value in bound.numbers.items():
        descriptor, _, field = name.partition(".")
        if field:
            by_descriptor.setdefault(descriptor, {})[field] = value
    found: dict[str, Any] = {}
    for descriptor, settings in by_descriptor.items():
        if descriptor == "fft_plan":
            found[descriptor] = _plan(bound, settings, handle)
        else:
            found[descriptor] = _MAKERS[descriptor](handle.backend, settings)
    return found


def _plan(bound: Bound, settings: Settings, handle: Handle) -> Any:
    described: list[Any] = []
    for tensor in (bound.inputs["input"], bound.outputs["output"]):
        assert tensor is not None
        native = functions.mluOpCreateTensorDescriptor(backend=handle.backend)
        dims, steps = list(tensor.shape), list(tensor.strides)
        functions.mluOpSetTensorDescriptorEx(native, tensor.layout, tensor.dtype, len(dims), dims, steps)
        if tensor.onchip_dtype is not None:
            functions.mluOpSetTensorDescriptorOnchipDataType(native, tensor.onchip_dtype)
        described.append(native)
    plan = functions.mluOpCreateFFTPlan(backend=handle.backend)
    lengths = list(settings["n"])[: settings["rank"]]
    functions.mluOpMakeFFTPlanMany(plan, described[0], described[1], settings["rank"], lengths, handle=handle)
    functions.mluOpSetFFTReserveArea(plan, handle=handle)
    return plan
