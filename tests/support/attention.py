"""ms_deform_attn: how tests call it, and inputs to call it with."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from pymluops.oracle.ms_deform_attn import Inputs
from support.arrays import canary
from support.c_calls import SUCCESS, Raw, Tensor

INPUTS = ("value", "spatial_shapes", "level_start_index", "sampling_loc", "attn_weight")
GRADIENTS = ("grad_value", "grad_sampling_loc", "grad_attn_weight")


def ms_deform_attn_forward(*inputs: np.ndarray, im2col_step: int) -> np.ndarray:
    """The operator: data_col."""
    arrays = dict(zip(INPUTS, inputs, strict=True))
    value, weight = arrays["value"], arrays["attn_weight"]
    out = canary((*weight.shape[:3], value.shape[3]), "float32")
    with Raw(pymluops.load("cpu")) as raw:
        assert forward_status(raw, {**arrays, "data_col": out}, im2col_step) == SUCCESS, raw.reason()
    return out


def ms_deform_attn_backward(*inputs: np.ndarray, im2col_step: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The operator for the five inputs and grad_output: gradients of value, sampling_loc and attn_weight."""
    arrays = dict(zip((*INPUTS, "grad_output"), inputs, strict=True))
    outputs = [canary(arrays[name.removeprefix("grad_")].shape, "float32") for name in GRADIENTS]
    with Raw(pymluops.load("cpu")) as raw:
        all_arrays = {**arrays, **dict(zip(GRADIENTS, outputs, strict=True))}
        assert backward_status(raw, all_arrays, im2col_step) == SUCCESS, raw.reason()
    return outputs[0], outputs[1], outputs[2]


def _tensors(arrays: dict[str, Any], names: tuple[str, ...]) -> list[Any]:
    return [Tensor(arrays[name]) if isinstance(arrays[name], np.ndarray) else arrays[name] for name in names]


def forward_status(raw: Raw, arrays: dict[str, Any], im2col_step: int = 1) -> int:
    """Status of the C function; arrays stand for packed tensors."""
    column = _tensors(arrays, ("data_col",))
    return raw.status("mluOpMsDeformAttnForward", *_tensors(arrays, INPUTS), im2col_step, *column)


def backward_status(raw: Raw, arrays: dict[str, Any], im2col_step: int = 1) -> int:
    """Status of the C function; arrays stand for packed tensors."""
    inputs, outputs = _tensors(arrays, (*INPUTS, "grad_output")), _tensors(arrays, GRADIENTS)
    return raw.status("mluOpMsDeformAttnBackward", *inputs, im2col_step, *outputs)


# ---- inputs --------------------------------------------------------------------------------------


def make_inputs(
    rng: np.random.Generator,
    batch: int,
    queries: int,
    heads: int,
    channels: int,
    levels: list[tuple[int, int]],
    points: int,
    spread: float = 0.0,
) -> Inputs:
    """Levels one behind another; locations from -spread to 1 + spread."""
    shapes = np.array(levels, np.int32).reshape(-1, 2)
    sizes = shapes.prod(1, dtype=np.int32)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)[: len(levels)]
    samples = (batch, queries, heads, len(levels), points)
    value = rng.normal(size=(batch, int(sizes.sum()), heads, channels)).astype(np.float32)
    locations = rng.uniform(-spread, 1 + spread, (*samples, 2)).astype(np.float32)
    return Inputs(value, shapes, starts, locations, rng.random(samples, np.float32))


def make_grad(rng: np.random.Generator, inputs: Inputs) -> np.ndarray:
    shape = (*inputs.attn_weight.shape[:3], inputs.value.shape[3])
    return rng.normal(size=shape).astype(np.float32)
