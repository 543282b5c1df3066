"""Setters of settings descriptors: the values that each refuses, with the parameter that it blames."""

from __future__ import annotations

import math
from typing import Any

import pytest

from abi.c_objects import RawAbi
from abi.facts import BAD_PARAM, SUCCESS
from abi.settings_calls import SETTINGS_CALLS

LEAST = -(2**31)

#: `function -> parameter -> values that it refuses`; a tuple is an array.
REFUSED: dict[str, dict[str, list[Any]]] = {
    "mluOpSetCarafeDescriptor": {
        "dimNb": [0, 3, 5, LEAST], "kernel_size": [0, 2, -1, LEAST], "group_size": [0, LEAST], "scale_factor": [0, -1],
    },
    "mluOpSetNmsDescriptor": {
        "box_mode": [-1, 2], "output_mode": [-1, 4], "algo": [-1, 2], "method_mode": [-1, 3],
        "iou_threshold": [math.nan], "soft_nms_sigma": [-0.5, math.nan, -math.inf], "max_output_size": [-1, LEAST],
        "confidence_threshold": [-0.001, 1.001, math.nan, math.inf], "offset": [0.5, -1.0, 2.0, math.nan],
        "input_layout": [-1, 2],
    },
    "mluOpSetRoiAlignForwardDescriptor_v2": {
        "pooled_height": [0, -1], "pooled_width": [0, LEAST], "sampling_ratio": [-1],
        "spatial_scale": [0.0, -1.0, math.nan, math.inf], "pool_mode": [-1, 2],
    },
    "mluOpSetAdamWDescAttr": {"attr": [-1, 4, LEAST], "size_in_bytes": [0, 1, 3, 5, 8, 2**64 - 1]},
    "mluOpSetDCNDescriptor": {
        "dimNb": [3, 5, LEAST], "pad": [(-1, 0, 0, 0), (0, 0, 0, LEAST)], "stride": [(0, 1), (1, 0), (1, -1)],
        "dilation": [(0, 1), (1, LEAST)], "deformable_group": [0, -1], "conv_group": [0, LEAST], "im2col_step": [0],
        "compute_type": [1, 0, -1, 99],
    },
}  # fmt: skip

#: Values at the edge of what each takes.
TAKEN: dict[str, dict[str, list[Any]]] = {
    "mluOpSetCarafeDescriptor": {"kernel_size": [1, 137, 2**31 - 1], "group_size": [1], "scale_factor": [1]},
    "mluOpSetNmsDescriptor": {
        "box_mode": [0], "output_mode": [0], "algo": [0], "method_mode": [0], "iou_threshold": [-1.0, 2.0, math.inf],
        "soft_nms_sigma": [0.0], "max_output_size": [0, 2**31 - 1], "confidence_threshold": [0.0, 1.0], "offset": [0.0],
        "input_layout": [0], "pad_to_max_output_size": [0],
    },
    "mluOpSetRoiAlignForwardDescriptor_v2": {
        "pooled_height": [1], "pooled_width": [1], "sampling_ratio": [5], "spatial_scale": [1e-30], "pool_mode": [0],
        "aligned": [0],
    },
    "mluOpSetAdamWDescAttr": {"attr": [1]},
    "mluOpSetDCNDescriptor": {"pad": [(0, 0, 0, 0)], "stride": [(1, 1)], "dilation": [(1, 1)], "im2col_step": [1]},
}  # fmt: skip


def _cases(table: dict[str, dict[str, list[Any]]]) -> list[Any]:
    return [
        pytest.param(function, parameter, value, id=f"{function[8:]}-{parameter}-{value}")
        for function, parameters in table.items()
        for parameter, values in parameters.items()
        for value in values
    ]


def _call(abi: RawAbi, function: str, **changes: Any) -> int:
    arguments = SETTINGS_CALLS[function](abi)
    for name, value in changes.items():
        kind = abi.ffi.typeof(arguments[name]) if isinstance(arguments[name], abi.ffi.CData) else None
        if isinstance(value, tuple):
            arguments[name] = abi.ints(value)
        else:
            arguments[name] = value if kind is None else abi.ffi.cast(kind, value)
    return getattr(abi.lib, function)(*arguments.values())


@pytest.mark.parametrize(("function", "parameter", "value"), _cases(REFUSED))
def test_refused(abi: RawAbi, function: str, parameter: str, value: Any) -> None:
    assert _call(abi, function, **{parameter: value}) == BAD_PARAM
    assert abi.reason().startswith(f"{function}: {parameter}: expected "), abi.reason()


@pytest.mark.parametrize(("function", "parameter", "value"), _cases(TAKEN))
def test_taken(abi: RawAbi, function: str, parameter: str, value: Any) -> None:
    assert _call(abi, function, **{parameter: value}) == SUCCESS, abi.reason()


@pytest.mark.parametrize("function", REFUSED)
def test_the_first_fault_in_the_order_of_the_checks_is_named(abi: RawAbi, function: str) -> None:
    """All values wrong at once: parameter order, except that Carafe looks at its dims last."""
    first = {"mluOpSetCarafeDescriptor": "kernel_size", "mluOpSetAdamWDescAttr": "attr"}
    wrong = {parameter: values[0] for parameter, values in REFUSED[function].items()}
    assert _call(abi, function, **wrong) == BAD_PARAM
    assert abi.reason().split(": ")[1] == first.get(function, next(iter(REFUSED[function])))


@pytest.mark.parametrize(("attribute", "size"), [(0, 4), (1, 4), (2, 1), (3, 1)])
def test_sizes_of_adamw_attributes(abi: RawAbi, attribute: int, size: int) -> None:
    desc, value = abi.settings("AdamWDescriptor"), abi.ffi.new("char[8]", b"\2" * 8)
    kind = abi.enum("mluOpAdamWDescAttribute_t", attribute)
    for given in (0, 1, 2, 4, 8):
        wanted = SUCCESS if given == size else BAD_PARAM
        assert abi.lib.mluOpSetAdamWDescAttr(desc, kind, value, given) == wanted
    assert abi.lib.mluOpSetAdamWDescAttr(desc, kind, abi.null, size) == BAD_PARAM
