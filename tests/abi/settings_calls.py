"""Legal calls of the functions of settings descriptors, FFT plans and gen-case switches; see `abi.legal_calls`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from abi.c_objects import SETTINGS, RawAbi

Arguments = dict[str, Any]

_KEPT_ALIVE: list[Any] = []


def nms_values(abi: RawAbi) -> Arguments:
    return {
        "box_mode": abi.enum("mluOpNmsBoxPointMode_t", 1), "output_mode": abi.enum("mluOpNmsOutputMode_t", 3),
        "algo": abi.enum("mluOpNmsAlgo_t", 1), "method_mode": abi.enum("mluOpNmsMethodMode_t", 2),
        "iou_threshold": 0.5, "soft_nms_sigma": 0.25, "max_output_size": 7, "confidence_threshold": 0.75, "offset": 1.0,
        "input_layout": 1, "pad_to_max_output_size": 1,
    }  # fmt: skip


def dcn_values(abi: RawAbi) -> Arguments:
    return {
        "dimNb": 4, "pad": abi.ints((0, 1, 2, 3)), "stride": abi.ints((1, 2)), "dilation": abi.ints((2, 1)),
        "deformable_group": 2, "conv_group": 3, "im2col_step": 4, "compute_type": abi.dtype("FLOAT"),
    }  # fmt: skip


def fft_tensors(
    abi: RawAbi, dims: tuple[tuple[int, ...], tuple[int, ...]], dtypes: tuple[str, str], onchip: str | None
) -> tuple[Any, Any]:
    """Descriptors of the input and the output of a transform."""
    descs = tuple(abi.tensor(size, dtype) for size, dtype in zip(dims, dtypes, strict=True))
    if onchip is not None:
        abi.lib.mluOpSetTensorDescriptorOnchipDataType(descs[0], abi.dtype(onchip))
    return descs[0], descs[1]


def make_fft_plan(abi: RawAbi) -> Arguments:
    """Of 3 real signals of 10 elements."""
    source, result = fft_tensors(abi, ((3, 10), (3, 6)), ("FLOAT", "COMPLEX_FLOAT"), "FLOAT")
    return {
        "handle": abi.handle(), "fft_plan": abi.settings("FFTPlan"), "input_desc": source, "output_desc": result,
        "rank": 1, "n": abi.ints((10,)), "reservespace_size": abi.out("size_t"), "workspace_size": abi.out("size_t"),
    }  # fmt: skip


def _reserve_area(abi: RawAbi) -> Arguments:
    made = make_fft_plan(abi)
    assert abi.lib.mluOpMakeFFTPlanMany(*made.values()) == 0, abi.reason()
    return {"handle": made["handle"], "fft_plan": made["fft_plan"], "reservespace": abi.ffi.cast("void *", 0x1000)}


def _exec_fft(abi: RawAbi) -> Arguments:
    made = make_fft_plan(abi)
    assert abi.lib.mluOpMakeFFTPlanMany(*made.values()) == 0, abi.reason()
    memory = abi.ffi.new("float[]", 30), abi.ffi.new("float[]", 36)
    _KEPT_ALIVE.append(memory)
    source, result = (abi.ffi.cast("void *", one) for one in memory)
    return {
        "handle": made["handle"], "fft_plan": made["fft_plan"], "input": source, "scale_factor": 0.5,
        "workspace": abi.null, "output": result, "direction": 0,
    }  # fmt: skip


def _adamw(abi: RawAbi) -> Arguments:
    value = abi.ffi.new("float *", 0.5)
    _KEPT_ALIVE.append(value)
    return {
        "adamw_desc": abi.settings("AdamWDescriptor"), "attr": abi.enum("mluOpAdamWDescAttribute_t", 0),
        "buf": abi.ffi.cast("void *", value), "size_in_bytes": 4,
    }  # fmt: skip


def _created(kind: str) -> Callable[[RawAbi], Arguments]:
    return lambda abi: {SETTINGS[kind].parameter: abi.ffi.new(f"{SETTINGS[kind].type_name} *")}


def _destroyed(kind: str) -> Callable[[RawAbi], Arguments]:
    return lambda abi: {SETTINGS[kind].parameter: abi.new_settings(kind)}


SETTINGS_CALLS: dict[str, Callable[[RawAbi], Arguments]] = {
    **{names.create: _created(kind) for kind, names in SETTINGS.items()},
    **{names.destroy: _destroyed(kind) for kind, names in SETTINGS.items()},
    "mluOpSetCarafeDescriptor": lambda abi: {
        "carafe_desc": abi.settings("CarafeDescriptor"), "dimNb": 4, "kernel_size": 5, "group_size": 2,
        "scale_factor": 3,
    },
    "mluOpSetNmsDescriptor": lambda abi: {"nms_desc": abi.settings("NmsDescriptor"), **nms_values(abi)},
    "mluOpSetRoiAlignForwardDescriptor_v2": lambda abi: {
        "roialign_desc": abi.settings("RoiAlignForwardDescriptor"), "pooled_height": 3, "pooled_width": 4,
        "sampling_ratio": 0, "spatial_scale": 0.5, "pool_mode": 1, "aligned": 1,
    },
    "mluOpSetAdamWDescAttr": _adamw,
    "mluOpSetDCNDescriptor": lambda abi: {"dcn_desc": abi.settings("DCNDescriptor"), **dcn_values(abi)},
    "mluOpMakeFFTPlanMany": make_fft_plan,
    "mluOpSetFFTReserveArea": _reserve_area,
    "mluOpExecFFT": _exec_fft,
    "mluOpSetGenCaseMode": lambda abi: {"mode": 0},
    "mluOpSetGenCaseDirectory": lambda abi: {"path": abi.ffi.new("char[]", b"")},
    "mluOpGetGenCaseDirectory": lambda abi: {
        "buffer": abi.ffi.new("char[]", 4096), "bufferSize": 4096, "pathLen": abi.out("size_t"),
        "status": abi.ffi.new("mluOpStatus_t *"),
    },
}  # fmt: skip
