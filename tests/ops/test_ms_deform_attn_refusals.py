"""ms_deform_attn forward and backward: zero elements and refused calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pymluops
from support.arrays import canary, is_canary
from support.attention import GRADIENTS, INPUTS, backward_status, forward_status
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw

# ---- zero elements -------------------------------------------------------------------------------


def _arrays(**sizes: int) -> dict[str, Any]:
    """All arrays of both directions for B, Q, M, C, L, P and K, which are small if not given."""
    b, q, m, c, levels, p, k = ({"b": 2, "q": 3, "m": 2, "c": 4, "l": 2, "p": 2, "k": 5} | sizes).values()
    samples = (b, q, m, levels, p)
    shapes = np.array([[2, 2], [1, 1]], np.int32)[:levels] if k else np.zeros((levels, 2), np.int32)
    ones = {"value": (b, k, m, c), "sampling_loc": (*samples, 2), "attn_weight": samples, "grad_output": (b, q, m, c)}
    arrays = {name: np.full(shape, 0.5, np.float32) for name, shape in ones.items()}
    arrays["spatial_shapes"] = shapes
    arrays["level_start_index"] = np.array([0, 4], np.int32)[:levels] if k else np.zeros(levels, np.int32)
    arrays["data_col"] = canary((b, q, m, c), "float32")
    for name in GRADIENTS:
        arrays[name] = canary(arrays[name.removeprefix("grad_")].shape, "float32")
    return arrays


def _without_memory(arrays: dict[str, Any], kept: tuple[str, ...]) -> dict[str, Any]:
    return {
        name: a if name in kept else Descriptor(a.shape, a.dtype.name, pair=True) for name, a in arrays.items()
    }  # fmt: skip


@pytest.mark.parametrize("size", ["l", "p"])
def test_forward_without_samples_gives_zeros(raw: Raw, size: str) -> None:
    arrays = _arrays(**{size: 0})
    assert forward_status(raw, _without_memory(arrays, ("data_col",)), -1) == SUCCESS, raw.reason()
    assert (arrays["data_col"] == 0).all()
    assert forward_status(raw, _without_memory(arrays, ()), 1) == BAD_PARAM
    assert ": data_col: expected a pointer" in raw.reason()


@pytest.mark.parametrize("size", ["b", "m", "c", "q"])
def test_sizes_that_must_not_be_zero(raw: Raw, size: str) -> None:
    arrays = _arrays(**{size: 0})
    assert forward_status(raw, arrays) == BAD_PARAM
    assert "data_col_desc: expected at least one element" in raw.reason()
    assert backward_status(raw, arrays) == BAD_PARAM
    assert ("im2col_step" if size == "b" else "grad_output_desc: expected at least one element") in raw.reason()


@pytest.mark.parametrize(
    ("sizes", "zeros"),
    [
        ({"l": 0}, ()),
        ({"l": 0, "k": 0, "p": 0}, ()),
        ({"k": 0, "p": 0}, ()),
        ({"p": 0}, ("grad_value",)),
        ({"k": 0}, ("grad_sampling_loc", "grad_attn_weight")),
    ],
)
def test_backward_without_samples_or_keys(raw: Raw, sizes: dict[str, int], zeros: tuple[str, ...]) -> None:
    arrays = _arrays(**sizes)
    assert backward_status(raw, _without_memory(arrays, zeros)) == SUCCESS, raw.reason()
    assert backward_status(raw, arrays) == SUCCESS
    for name in GRADIENTS:
        assert (arrays[name] == 0).all() if name in zeros else is_canary(arrays[name])
    for name in zeros:
        assert backward_status(raw, _without_memory(arrays, tuple(set(zeros) - {name}))) == BAD_PARAM
        assert f": {name}: expected a pointer" in raw.reason()


def test_forward_without_keys_adds_zeros(raw: Raw) -> None:
    arrays = _arrays(k=0)
    assert forward_status(raw, arrays) == SUCCESS, raw.reason()
    assert (arrays["data_col"] == 0).all()


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("batch", "step"), [(2, 0), (2, -1), (6, 4), (6, 5), (2, -(2**31))])
def test_steps_that_are_refused(raw: Raw, batch: int, step: int) -> None:
    arrays = _arrays(b=batch)
    for status in (forward_status, backward_status):
        assert status(raw, arrays, step) == BAD_PARAM
        assert ": im2col_step: expected" in raw.reason()
    assert is_canary(arrays["data_col"])
    assert is_canary(arrays["grad_value"])


@pytest.mark.parametrize("step", [1, 2, 3, 6, 7, 2**31 - 1])
def test_a_step_changes_nothing(raw: Raw, step: int) -> None:
    arrays = _arrays(b=6)
    assert forward_status(raw, arrays, step) == SUCCESS
    assert backward_status(raw, arrays, step) == SUCCESS
    once = _arrays(b=6)
    assert forward_status(raw, once, 1) == SUCCESS
    assert arrays["data_col"].tobytes() == once["data_col"].tobytes()


@pytest.mark.parametrize(
    ("shapes", "starts", "told"),
    [
        ([[2, 2], [1, -1]], [0, 4], "spatial_shapes"),
        ([[-1, -1], [1, 1]], [0, 4], "spatial_shapes"),
        ([[2, 2], [1, 1]], [0, 5], "level_start_index"),
        ([[2, 2], [1, 1]], [-1, 4], "level_start_index"),
        ([[2, 3], [1, 1]], [0, 4], "level_start_index"),
        ([[2**31 - 1, 2**31 - 1], [1, 1]], [2**31 - 1, 4], "level_start_index"),
        ([[2, 2], [0, 0]], [0, 6], "level_start_index"),
    ],
)
def test_levels_outside_of_the_keys(raw: Raw, shapes: list[list[int]], starts: list[int], told: str) -> None:
    arrays = _arrays()
    arrays["spatial_shapes"], arrays["level_start_index"] = np.array(shapes, np.int32), np.array(starts, np.int32)
    assert forward_status(raw, arrays) == BAD_PARAM
    assert f": data_{told}: expected" in raw.reason()
    assert backward_status(raw, arrays) == BAD_PARAM
    assert f": {told}: expected" in raw.reason()
    assert all(is_canary(arrays[name]) for name in ("data_col", *GRADIENTS))


def test_null_in_order(raw: Raw) -> None:
    null = raw.ffi.NULL
    for function, count in (("mluOpMsDeformAttnForward", 5), ("mluOpMsDeformAttnBackward", 6)):
        outputs = [null] * (2 if count == 5 else 6)
        call = getattr(raw.lib, function)
        assert call(null, *[null] * 2 * count, 0, *outputs) == BAD_PARAM
        assert ": handle:" in raw.reason()
        assert call(raw.handle, *[null] * 2 * count, 0, *outputs) == BAD_PARAM
        assert "value_desc:" in raw.reason()
    arrays = _arrays()
    orders = {
        forward_status: ("", (*INPUTS, "data_col")),
        backward_status: (None, (*INPUTS, "grad_output", *GRADIENTS)),
    }
    for status, (prefix, names) in orders.items():
        for name in names:
            assert status(raw, _without_memory(arrays, tuple(set(arrays) - {name}))) == BAD_PARAM
            told = name if prefix is None or name == "data_col" else f"data_{name}"
            assert f": {told}: expected a pointer" in raw.reason()


def _extra(array: np.ndarray, axis: int) -> np.ndarray:
    """The array with one more place along an axis."""
    return np.concatenate([array, array.take([0], axis)], axis)


#: Axes that must agree with those of other tensors, for each tensor; one that differs is refused.
AXES = {
    "value": (0, 2, 3),
    "spatial_shapes": (0, 1),
    "level_start_index": (0,),
    "sampling_loc": (0, 1, 2, 3, 4, 5),
    "attn_weight": (0, 1, 2, 3, 4),
}
FORWARD_AXES = [(name, axis) for name, axes in {**AXES, "data_col": (0, 1, 2, 3)}.items() for axis in axes]
BACKWARD_AXES = [
    (name, axis)
    for name, axes in {
        **AXES,
        "value": (0, 1, 2, 3),
        "grad_output": (0, 1, 2, 3),
        "grad_value": (0, 1, 2, 3),
        "grad_sampling_loc": (0, 1, 2, 3, 4, 5),
        "grad_attn_weight": (0, 1, 2, 3, 4),
    }.items()
    for axis in axes
]


def _intact(arrays: dict[str, Any], changed: str, outputs: tuple[str, ...]) -> bool:
    return all(is_canary(arrays[name]) for name in outputs if name != changed)


@pytest.mark.parametrize(("name", "axis"), FORWARD_AXES)
def test_forward_refuses_other_shapes(raw: Raw, name: str, axis: int) -> None:
    arrays = _arrays()
    arrays[name] = _extra(arrays[name], axis)
    assert forward_status(raw, arrays) == BAD_PARAM
    assert "_desc: expected dim" in raw.reason()
    assert _intact(arrays, name, ("data_col",))


@pytest.mark.parametrize(("name", "axis"), BACKWARD_AXES)
def test_backward_refuses_other_shapes(raw: Raw, name: str, axis: int) -> None:
    arrays = _arrays()
    arrays[name] = _extra(arrays[name], axis)
    assert backward_status(raw, arrays) == BAD_PARAM
    assert "_desc: expected" in raw.reason()
    assert _intact(arrays, name, GRADIENTS)


@pytest.mark.parametrize("name", [*INPUTS, "data_col", "grad_output", *GRADIENTS])
def test_dtypes_dims_and_strides(raw: Raw, name: str) -> None:
    status = forward_status if name == "data_col" else backward_status
    both = (forward_status, backward_status) if name in INPUTS else (status,)
    for call in both:
        arrays = _arrays()
        told = f": data_{name}_desc:" if call is forward_status and name != "data_col" else f": {name}_desc:"
        good = arrays[name]
        arrays[name] = good.astype(np.int64 if good.dtype == np.int32 else np.float16)
        assert call(raw, arrays) == BAD_PARAM
        assert told in raw.reason()
        arrays[name] = good[None]
        assert call(raw, arrays) == BAD_PARAM
        assert told in raw.reason()
        assert "expected" in raw.reason()
        arrays[name] = np.repeat(good, 2, -1)[..., ::2]
        assert call(raw, arrays) == NOT_SUPPORTED
        assert told in raw.reason()


@pytest.mark.parametrize("huge", ["value", "sampling_loc"])
def test_2_to_the_31_elements_are_not_supported(raw: Raw, huge: str) -> None:
    arrays = _arrays()
    shapes = {name: array.shape for name, array in arrays.items()}
    if huge == "value":
        shapes["value"] = shapes["grad_value"] = (2, 2**27, 2, 4)
    else:
        shapes["sampling_loc"] = shapes["grad_sampling_loc"] = (2, 3, 2, 2, 2**27, 2)
        shapes["attn_weight"] = shapes["grad_attn_weight"] = (2, 3, 2, 2, 2**27)
    tensors: dict[str, Any] = {
        name: Descriptor(shape, arrays[name].dtype.name, pair=True) for name, shape in shapes.items()
    }
    for status, prefix in ((forward_status, "data_"), (backward_status, "")):
        assert status(raw, tensors) == NOT_SUPPORTED
        assert f": {prefix}{huge}_desc: expected fewer than 2^31" in raw.reason()


def test_results_must_have_memory_of_their_own(raw: Raw) -> None:
    arrays = _arrays()
    shared = {**arrays, "data_col": arrays["value"].reshape(-1)[:48].reshape(2, 3, 2, 4)}
    assert forward_status(raw, shared) == BAD_PARAM
    assert ": data_col: expected memory of its own" in raw.reason()
    for name in GRADIENTS:
        assert backward_status(raw, {**arrays, name: arrays[name.removeprefix("grad_")]}) == BAD_PARAM
        assert f": {name}: expected memory of its own" in raw.reason()
    assert (arrays["value"] == 0.5).all()


def test_the_simulator_does_not_implement_it() -> None:
    arrays = _arrays()
    with Raw(pymluops.load("sim")) as raw:
        for status in (forward_status, backward_status):
            assert status(raw, arrays) == NOT_SUPPORTED
            assert "not implemented by the sim library" in raw.reason()
    assert all(is_canary(arrays[name]) for name in ("data_col", *GRADIENTS))
