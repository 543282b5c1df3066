"""The functions of mluops_ext.h that compute in double, against oracles in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import described
import families
import pymluops
from oracle import border_align, ms_deform_attn, psamask, three_interpolate, tin_shift
from pymluops._core import Operator
from pymluops.ops._double import double_of, is_floating

#: The operators with a function whose name ends in Double.
NAMES = [
    name
    for name, known in families.OPERATORS.items()
    if f"mluopsExt{known.function.removeprefix('mluOp')}Double" in described.PARAMETERS
]


def made(name: str, seed: int) -> tuple[Operator, list[Any], list[Any]]:
    """The operator in double, and legal inputs and scalars."""
    rng = np.random.default_rng(seed)
    arguments = described.arguments(name, rng, most=6)
    known = families.OPERATORS[name]
    inputs = [
        # Not what float32 can hold.
        arguments[tensor.name] * (1 + 1e-9 * rng.normal()) if is_floating(known, tensor) else arguments[tensor.name]
        for tensor in known.tensors
        if not tensor.output
    ]
    inputs = [array.astype(np.float64) if array.dtype.kind == "f" else array for array in inputs]
    if name.startswith("border_align"):
        inputs[1] = np.abs(inputs[1]) * 2
    if name == "ball_query":
        arguments["min_radius"], arguments["max_radius"] = 1.5, 4.0
    scalars, counts = [], {}
    for scalar in known.scalars:
        value = arguments[scalar.name]
        if isinstance(value, tuple):
            value = value[counts.setdefault(scalar.name, 0)]
            counts[scalar.name] += 1
        scalars.append(scalar.choices.get(value, value) if scalar.choices else value)
    return double_of(known), inputs, scalars


def call(operator: Operator, inputs: list[Any], scalars: list[Any], **options: Any) -> Any:
    missing = [None] * sum(tensor.output for tensor in operator.tensors)
    return operator(options.get("handle"), (*inputs, *missing), tuple(scalars))


def three_nearest(unknown: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    d2 = ((unknown[:, :, None] - known[:, None]) ** 2).sum(-1)
    d2 = np.concatenate([d2, np.full((*d2.shape[:2], 3), np.inf)], -1)
    order = np.argsort(d2, -1, kind="stable")[..., :3]
    distances = np.take_along_axis(d2, order, -1)
    return distances, np.where(np.isinf(distances), 0, order)


def ball(centres: np.ndarray, points: np.ndarray, low: float, high: float, count: int) -> np.ndarray:
    result = np.zeros((*centres.shape[:2], count), np.int32)
    for b, m in np.ndindex(centres.shape[:2]):
        d2 = ((points[b] - centres[b, m]) ** 2).sum(-1)
        found = np.flatnonzero((d2 == 0) | ((low**2 <= d2) & (d2 < high**2)))[:count]
        if len(found):
            result[b, m] = found[0]
            result[b, m, : len(found)] = found
    return result


def expected(name: str, inputs: list[Any], scalars: list[Any]) -> Any:
    if name.startswith("tin_shift"):
        return tin_shift.shift(*inputs)
    if name.startswith("psamask"):
        return getattr(psamask, name.removeprefix("psamask_"))(inputs[0], *scalars)
    if name == "border_align_forward":
        return border_align.forward(*inputs, *scalars, real=np.float64)
    if name == "border_align_backward":
        return border_align.backward(*inputs, scalars[0], (scalars[1], scalars[2]))
    if name.startswith("three_interpolate"):
        return getattr(three_interpolate, name.removeprefix("three_interpolate_"))(*inputs, *scalars)
    if name == "three_nn_forward":
        return three_nearest(*inputs)
    if name == "ball_query":
        return ball(*inputs, *scalars)
    given = ms_deform_attn.Inputs(*inputs[:5])
    return ms_deform_attn.forward(given) if len(inputs) == 5 else ms_deform_attn.backward(given, inputs[5])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", NAMES)
def test_values(name: str, seed: int) -> None:
    operator, inputs, scalars = made(name, seed)
    found, wanted = call(operator, inputs, scalars), expected(name, inputs, scalars)
    if not isinstance(found, tuple):
        found, wanted = (found,), (wanted,)
    for result, values in zip(found, wanted, strict=True):
        assert result.dtype == (np.int32 if values.dtype.kind == "i" else np.float64)
        np.testing.assert_allclose(result, values, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_any_number_of_threads_gives_the_same_bits(name: str) -> None:
    operator, inputs, scalars = made(name, 1)
    before = pymluops.get_num_threads()
    try:
        pymluops.set_num_threads(1)
        wanted = call(operator, inputs, scalars)
        pymluops.set_num_threads(7)
        found = call(operator, inputs, scalars)
    finally:
        pymluops.set_num_threads(before)
    for one, other in zip(*((r if isinstance(r, tuple) else (r,)) for r in (wanted, found)), strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_the_functions_of_the_abi_refuse_double(name: str) -> None:
    _, inputs, scalars = made(name, 0)
    known = families.OPERATORS[name]
    with pytest.raises(pymluops.BadParamError, match="float"):
        call(known, inputs, scalars)


@pytest.mark.parametrize("name", NAMES)
def test_float_is_refused(name: str) -> None:
    operator, inputs, scalars = made(name, 0)
    inputs = [array.astype(np.float32) if array.dtype == np.float64 else array for array in inputs]
    with pytest.raises(pymluops.BadParamError, match="dtype float64"):
        call(operator, inputs, scalars)


def test_a_device_library_says_that_it_has_no_double() -> None:
    operator, inputs, scalars = made("tin_shift_forward", 0)
    with pymluops.Handle("sim") as handle, pytest.raises(pymluops.NotSupportedError, match="not implemented"):
        call(operator, inputs, scalars, handle=handle)


def test_border_align_outside_of_the_map_and_nan() -> None:
    rng = np.random.default_rng(3)
    features = rng.normal(size=(1, 4, 5, 8))
    boxes = np.array([[[-9, -9, -5, -5], [-0.5, -0.5, 4.5, 3.5], [np.nan, 0, 2, 2], [3, 3, 1, 1]]])
    operator = double_of(families.OPERATORS["border_align_forward"])
    found = call(operator, [features, boxes], [7])
    wanted = border_align.forward(features, boxes, 7, real=np.float64)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)
    grad = rng.normal(size=found[0].shape)
    backward = double_of(families.OPERATORS["border_align_backward"])
    np.testing.assert_allclose(
        call(backward, [grad, boxes, found[1]], [7, 4, 5]),
        border_align.backward(grad, boxes, found[1], 7, (4, 5)),
        rtol=1e-12,
        atol=1e-13,
    )
