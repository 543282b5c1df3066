"""carafe forward and backward, and mluOpCarafe*, which take their numbers from a descriptor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import carafe_upsample as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import ARRAY, BAD_PARAM, NHWC, NOT_SUPPORTED, SUCCESS, Raw, Tensor
from support.comparison import assert_same_bits
from support.selection import examples

SHAPES = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 2),
        "size": st.tuples(st.integers(1, 5), st.integers(1, 5)),
        "channels": st.integers(1, 70),  # of a group
        "numbers": st.tuples(st.integers(1, 5), st.integers(1, 3), st.integers(1, 3)),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def make(s: dict[str, Any], dtype: str = "float32") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Maps, weights, and the gradient of the result."""
    rng, (kernel, groups, scale) = np.random.default_rng(s["seed"]), s["numbers"]
    height, width = s["size"]
    large = s["batch"], height * scale, width * scale
    maps = rng.normal(size=(s["batch"], height, width, s["channels"] * groups))
    mask, grad = rng.normal(size=(*large, groups * kernel**2)), rng.normal(size=(*large, s["channels"] * groups))
    return maps.astype(dtype), mask.astype(dtype), grad.astype(dtype)


def near(found: Any, expected: np.ndarray, dtype: str) -> None:
    assert found.dtype == dtype
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    atol = scale * {"float32": 1e-5, "float16": 2e-3}[dtype]
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=0, atol=atol)


@examples(80)
@given(s=SHAPES, dtype=st.sampled_from(["float32", "float16"]))
def test_values_are_those_of_the_formula(s: dict[str, Any], dtype: str) -> None:
    maps, mask, grad = make(s, dtype)
    near(pymluops.carafe_forward(maps, mask, *s["numbers"]), oracle.forward(maps, mask, *s["numbers"]), dtype)
    found = pymluops.carafe_backward(maps, mask, grad, *s["numbers"])
    for one, expected in zip(found, oracle.backward(maps, mask, grad, *s["numbers"]), strict=True):
        near(one, expected, dtype)


@examples(30)
@given(s=SHAPES)
def test_any_bits_do_no_harm(s: dict[str, Any]) -> None:
    rng = np.random.default_rng(s["seed"])
    maps, mask, grad = (any_bits(rng, array.shape, np.float32) for array in make(s))
    found = [pymluops.carafe_forward(maps, mask, *s["numbers"])]
    found += pymluops.carafe_backward(maps, mask, grad, *s["numbers"])
    again = [pymluops.carafe_forward(maps, mask, *s["numbers"])]
    again += pymluops.carafe_backward(maps, mask, grad, *s["numbers"])
    for one, other in zip(found, again, strict=True):
        assert_same_bits(one, other)


def test_values_that_are_not_finite_stay_in_their_windows() -> None:
    maps, mask = np.ones((1, 1, 5, 1), np.float32), np.ones((1, 1, 5, 9), np.float32)
    maps[0, 0, 0], maps[0, 0, 4] = np.nan, np.inf
    found = pymluops.carafe_forward(maps, mask, 3, 1, 1).ravel()
    assert np.isnan(found[:2]).all()
    assert found[2:].tolist() == [3, np.inf, np.inf]


def test_a_window_that_picks_its_centre_repeats_pixels() -> None:
    maps = np.arange(12, dtype=np.float32).reshape(1, 2, 3, 2)
    mask = np.zeros((1, 6, 9, 25), np.float32)
    mask[..., 12] = 1
    found = pymluops.carafe_forward(maps, mask, 5, 1, 3)
    assert_same_bits(found, maps.repeat(3, 1).repeat(3, 2))
    gradient = pymluops.carafe_backward(maps, mask, np.ones_like(found), 5, 1, 3).grad_input
    assert (gradient == 9).all()


def test_threads_change_nothing() -> None:
    s = {"batch": 2, "size": (9, 8), "channels": 37, "numbers": (5, 2, 2), "seed": 1}
    maps, mask, grad = make(s)
    before, results = pymluops.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            pymluops.set_num_threads(threads)
            results.append(
                [pymluops.carafe_forward(maps, mask, 5, 2, 2), *pymluops.carafe_backward(maps, mask, grad, 5, 2, 2)]
            )
    finally:
        pymluops.set_num_threads(before)
    for one in results[1:]:
        for array, first in zip(one, results[0], strict=True):
            assert_same_bits(array, first)


# ---- mluOpCarafe* --------------------------------------------------------------------------------


def _descriptor(raw: Raw, *numbers: int) -> Any:
    slot = raw.ffi.new("mluOpCarafeDescriptor_t *")
    assert raw.lib.mluOpCreateCarafeDescriptor(slot) == SUCCESS
    desc = raw.ffi.gc(slot[0], raw.lib.mluOpDestroyCarafeDescriptor)
    if numbers:
        assert raw.lib.mluOpSetCarafeDescriptor(desc, 4, *numbers) == SUCCESS, raw.reason()
    return desc


_NAMES = {"Forward": ("input", "mask", "output"), "Backward": ("input", "mask", "output", "grad_input", "grad_mask")}
_WRITTEN = {"Forward": ("output",), "Backward": ("grad_input", "grad_mask")}
_NUMBERS = (3, 2, 2)


def _status(raw: Raw, way: str, desc: Any, arrays: dict[str, Any]) -> int:
    given: list[Any] = []
    for name in _NAMES[way]:
        array = arrays[name]
        if array is None:
            given += [raw.ffi.NULL, raw.ffi.NULL]
        else:
            given.append(array if isinstance(array, Tensor) else Tensor(array, NHWC))
    return raw.status(f"mluOpCarafe{way}", desc, *given)


def _arrays(way: str, dtype: str = "float32") -> dict[str, Any]:
    maps, mask, grad = make({"batch": 2, "size": (2, 3), "channels": 3, "numbers": _NUMBERS, "seed": 2}, dtype)
    found = {"input": maps, "mask": mask, "output": grad, "grad_input": maps, "grad_mask": mask}
    return {key: canary(value.shape, dtype) if key in _WRITTEN[way] else value for key, value in found.items()}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_functions_with_a_descriptor_compute_the_same(raw: Raw, dtype: str) -> None:
    desc = _descriptor(raw, *_NUMBERS)
    t = _arrays("Forward", dtype)
    assert _status(raw, "Forward", desc, t) == SUCCESS, raw.reason()
    assert_same_bits(t["output"], pymluops.carafe_forward(t["input"], t["mask"], *_NUMBERS))
    t = _arrays("Backward", dtype)
    assert _status(raw, "Backward", desc, t) == SUCCESS, raw.reason()
    expected = pymluops.carafe_backward(t["input"], t["mask"], t["output"], *_NUMBERS)
    assert_same_bits(t["grad_input"], expected.grad_input)
    assert_same_bits(t["grad_mask"], expected.grad_mask)


def test_refused_calls_write_nothing(raw: Raw) -> None:
    desc = _descriptor(raw, *_NUMBERS)
    for way, names in _NAMES.items():
        packed = BAD_PARAM if way == "Forward" else NOT_SUPPORTED
        for name in names:
            array = _arrays(way)[name]
            larger = [np.ones([n + (i == dim) for i, n in enumerate(array.shape)], np.float32) for dim in range(4)]
            wrong: list[tuple[Any, int]] = [(one, BAD_PARAM) for one in larger]
            wrong += [(array[None], BAD_PARAM), (array.astype(np.float16), BAD_PARAM), (None, BAD_PARAM)]
            wrong += [(array.astype(np.float64), BAD_PARAM), (Tensor(array, ARRAY), BAD_PARAM)]
            wrong += [(np.repeat(array, 2, -1)[..., ::2], packed), (Tensor(array, NHWC, 0), BAD_PARAM)]
            for replacement, status in wrong:
                t = {**_arrays(way), name: replacement}
                assert _status(raw, way, desc, t) == status, (way, name, raw.reason())
                assert raw.reason().startswith(f"mluOpCarafe{way}: ")
                assert all(is_canary(t[key]) for key in _WRITTEN[way] if key != name)


def test_limits_of_the_numbers(raw: Raw) -> None:
    for numbers, ways in (
        ((47, 2, 2), ("Forward",)),
        ((3, 2, 6), ("Forward",)),
        ((139, 1, 1), ("Forward", "Backward")),
    ):
        kernel, groups, scale = numbers
        s = {"batch": 1, "size": (1, 1), "channels": 1, "numbers": (kernel, groups, scale), "seed": 0}
        maps, mask, grad = make(s)
        for way in ways:
            t = {"input": maps, "mask": mask, "output": grad, "grad_input": maps * 0, "grad_mask": mask * 0}
            assert _status(raw, way, _descriptor(raw, *numbers), t) == NOT_SUPPORTED
            assert "carafe_desc: expected" in raw.reason()
    for way in _NAMES:
        assert _status(raw, way, _descriptor(raw), _arrays(way)) == BAD_PARAM
        assert "never set" in raw.reason()
        assert _status(raw, way, raw.ffi.NULL, _arrays(way)) == BAD_PARAM
        for numbers in ((5, 2, 2), (3, 4, 2), (3, 1, 2), (3, 2, 1)):
            assert _status(raw, way, _descriptor(raw, *numbers), _arrays(way)) == BAD_PARAM
    empty = {name: array[:0] for name, array in _arrays("Backward").items()}
    for way in _NAMES:
        assert _status(raw, way, _descriptor(raw, *_NUMBERS), empty) == SUCCESS
