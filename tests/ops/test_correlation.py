"""correlation forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.ops._described import described
from pymluops.ops._double import double_of
from pymluops.oracle import correlation as oracle
from pymluops.oracle.correlation import Settings
from support.arrays import canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Raw, Tensor
from support.comparison import assert_close, assert_same_bits
from support.selection import examples


def _pairs(least: int, most: int) -> st.SearchStrategy[tuple[int, int]]:
    return st.tuples(st.integers(least, most), st.integers(least, most))


SETTINGS = st.builds(
    Settings,
    kernel=_pairs(1, 3),
    patch=_pairs(1, 6),
    stride=_pairs(1, 3),
    pad=_pairs(0, 3),
    dilation=_pairs(1, 3),
    dilation_patch=_pairs(1, 3),
)
SHAPES = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 2),
        "channels": st.sampled_from([1, 3, 8, 13, 70]),
        "size": st.tuples(st.integers(1, 6), st.sampled_from([1, 2, 5, 8, 9, 19])),
        "out": st.tuples(st.integers(1, 6), st.integers(1, 20)),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def _both(s: Settings, arrays: tuple[np.ndarray, np.ndarray], grad: np.ndarray) -> tuple[np.ndarray, ...]:
    return (
        pymluops.correlation_forward(*arrays, grad.shape[3:], *s),
        *pymluops.correlation_backward(grad, *arrays, *s),
    )


def _expected(s: Settings, arrays: tuple[np.ndarray, np.ndarray], grad: np.ndarray) -> tuple[np.ndarray, ...]:
    return oracle.forward(*arrays, s, grad.shape[3:]), *oracle.backward(grad, *arrays, s)


@examples(80)
@given(s=SETTINGS, made=SHAPES, dtype=st.sampled_from([np.float32, np.float16]))
def test_whole_numbers_are_exact(s: Settings, made: dict[str, Any], dtype: Any) -> None:
    rng = np.random.default_rng(made["seed"])
    shape = (made["batch"], made["channels"], *made["size"])
    maps = rng.integers(-2, 3, shape).astype(dtype), rng.integers(-2, 3, shape).astype(dtype)
    grad = rng.integers(-2, 3, (made["batch"], *s.patch, *made["out"])).astype(dtype)
    for found, wanted in zip(_both(s, maps, grad), _expected(s, maps, grad), strict=True):
        assert_same_bits(found + dtype(0), wanted.astype(dtype) + dtype(0))  # -0 is 0


@examples(40)
@given(s=SETTINGS, made=SHAPES)
def test_what_is_not_finite_stays_where_it_is(s: Settings, made: dict[str, Any]) -> None:
    rng, s = np.random.default_rng(made["seed"]), s._replace(kernel=(1, 1))
    shape = (made["batch"], made["channels"], *made["size"])

    def some(*shape: int) -> np.ndarray:
        odd = rng.choice([np.nan, np.inf, -np.inf], shape)
        return np.where(rng.random(shape) < 0.03, odd, rng.integers(-2, 3, shape)).astype(np.float32)

    maps, grad = (some(*shape), some(*shape)), some(made["batch"], *s.patch, *made["out"])
    for found, wanted in zip(_both(s, maps, grad), _expected(s, maps, grad), strict=True):
        np.testing.assert_array_equal(found, wanted.astype(np.float32))


#: Maps and numbers of FlowNetC and PWC-Net, with fewer channels or pixels, and of mmcv's tests.
NAMED: list[tuple[tuple[int, ...], Settings]] = [
    ((1, 40, 6, 16), Settings(patch=(21, 21), dilation_patch=(2, 2))),
    ((2, 130, 4, 8), Settings(patch=(9, 9))),
    ((1, 16, 7, 24), Settings(patch=(9, 9))),
    ((1, 1, 3, 3), Settings()),
    ((1, 1, 3, 3), Settings(patch=(3, 3), pad=(1, 1))),
    ((1, 2, 8, 9), Settings((3, 3), (3, 3), (2, 2), (1, 1), (2, 2), (2, 2))),
    ((1, 3, 2, 2), Settings(patch=(1, 5), dilation_patch=(1, 32767))),
    ((1, 3, 2, 2), Settings(kernel=(3, 3), pad=(32767, 1), stride=(32767, 1), dilation=(32767, 1))),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("case", NAMED, ids=str)
def test_named_shapes(case: tuple[Any, ...], dtype: Any) -> None:
    shape, s = case
    rng = np.random.default_rng(3)
    maps = rng.normal(size=shape).astype(dtype), rng.normal(size=shape).astype(dtype)
    size = oracle.size_of(shape[2:], s)
    grad = rng.normal(size=(shape[0], *s.patch, *size)).astype(dtype)
    for found, wanted in zip(_both(s, maps, grad), _expected(s, maps, grad), strict=True):
        assert found.dtype == dtype
        assert_close(found, wanted)


def test_displacements_move_the_second_map() -> None:
    one, other = np.zeros((2, 1, 1, 5, 5), np.float32)
    one[0, 0, 2, 2], other[0, 0, 1, 4] = 3, 5
    found = pymluops.correlation_forward(one, other, (5, 5), patch_size=(3, 5))
    assert found[0, 0, 4, 2, 2] == 15  # one up, two to the right
    assert np.count_nonzero(found) == 1
    found = pymluops.correlation_forward(one, other, (5, 5), patch_size=3, dilation_patch=(1, 2))
    assert found[0, 0, 2, 2, 2] == 15
    assert np.count_nonzero(found) == 1


def test_an_even_number_of_displacements() -> None:
    """Half a step is rounded down, whatever its sign."""
    one = np.zeros((1, 1, 1, 9), np.float32)
    one[..., 4] = 1
    other = np.arange(9, dtype=np.float32).reshape(1, 1, 1, 9)
    found = pymluops.correlation_forward(one, other, (1, 9), patch_size=(1, 2), dilation_patch=(1, 3))
    assert found[0, 0, :, 0, 4].tolist() == [3, 6]


def test_results_beyond_the_padded_map_are_zero() -> None:
    one = np.ones((1, 2, 2, 2), np.float32)
    found = pymluops.correlation_forward(one, one, (4, 4), padding=1)[0, 0, 0]
    assert found.tolist() == [[0, 0, 0, 0], [0, 2, 2, 0], [0, 2, 2, 0], [0, 0, 0, 0]]
    assert np.count_nonzero(pymluops.correlation_forward(one, one, (30, 3))) == 4


def test_half_is_added_up_in_float() -> None:
    one, other = np.ones((2, 1, 3000, 1, 1), np.float16)
    one[0, 0] = 2048
    assert pymluops.correlation_forward(one, other, (1, 1)).item() == np.float16(5047)


def test_backward_is_the_gradient() -> None:
    """The result is linear in each map."""
    rng, s = np.random.default_rng(4), Settings((2, 3), (3, 5), (1, 2), (1, 0), (2, 1), (2, 1))
    maps = rng.normal(size=(2, 2, 5, 6, 7))
    size = oracle.size_of((6, 7), s)
    grad, numbers = rng.normal(size=(2, 3, 5, *size)), tuple(n for pair in s for n in pair)
    forward = double_of(described("correlation_forward"))(None, (*maps, None), (*numbers, *size))
    gradients = double_of(described("correlation_backward"))(None, (grad, *maps, None, None), numbers)
    for one, gradient in zip(maps, gradients, strict=True):
        assert (one * gradient).sum() == pytest.approx((forward * grad).sum(), rel=1e-12)


# ---- refusals ------------------------------------------------------------------------------------

#: In the order of the C functions.
_NUMBERS = {
    "kernel_h": 1, "kernel_w": 1, "patch_h": 3, "patch_w": 5, "stride_h": 1, "stride_w": 1, "pad_h": 0, "pad_w": 0,
    "dilation_h": 1, "dilation_w": 1, "dilation_patch_h": 1, "dilation_patch_w": 1,
}  # fmt: skip


def _arrays(forward: bool) -> dict[str, np.ndarray]:
    maps, result = (2, 3, 4, 5), (2, 3, 5, 6, 7)
    rng = np.random.default_rng(5)
    made = {name: rng.normal(size=maps).astype(np.float32) for name in ("input1", "input2")}
    if forward:
        return {**made, "output": canary(result, np.float32)}
    grads = {name: canary(maps, np.float32) for name in ("grad_input1", "grad_input2")}
    return {"grad_output": rng.normal(size=result).astype(np.float32), **made, **grads}


def raw_call(raw: Raw, arrays: dict[str, np.ndarray], numbers: dict[str, int]) -> int:
    """Status of a C function."""
    forward = "output" in arrays
    tensors = [Tensor(array) for array in arrays.values()]
    inputs = 2 if forward else 3
    name = "mluopsExtCorrelationForward" if forward else "mluopsExtCorrelationBackward"
    return raw.status(name, *tensors[:inputs], *numbers.values(), *tensors[inputs:])


def _untouched(arrays: dict[str, np.ndarray], but: str) -> bool:
    return all(
        is_canary(array) for name, array in arrays.items() if name.startswith(("output", "grad_input")) and name != but
    )


def test_the_c_functions_write_the_same(raw: Raw) -> None:
    arrays = _arrays(True)
    assert raw_call(raw, arrays, _NUMBERS) == SUCCESS, raw.reason()
    maps = arrays["input1"], arrays["input2"]
    assert_same_bits(arrays["output"], pymluops.correlation_forward(*maps, (6, 7), patch_size=(3, 5)))
    arrays = _arrays(False)
    assert raw_call(raw, arrays, _NUMBERS) == SUCCESS, raw.reason()
    expected = pymluops.correlation_backward(arrays["grad_output"], *maps, patch_size=(3, 5))
    assert_same_bits(arrays["grad_input1"], expected.grad_input1)
    assert_same_bits(arrays["grad_input2"], expected.grad_input2)


@pytest.mark.parametrize("forward", [True, False])
def test_refused_tensors(raw: Raw, forward: bool) -> None:
    for name, array in _arrays(forward).items():
        wrong: list[tuple[np.ndarray, int]] = [
            (array[0].copy(), BAD_PARAM),
            (np.ones([n + (i == 0) for i, n in enumerate(array.shape)], np.float32), BAD_PARAM),
            (np.ones([n + (i == 1) for i, n in enumerate(array.shape)], np.float32), BAD_PARAM),
            (array.astype(np.float16), BAD_PARAM),
            (array.astype(np.int32), BAD_PARAM),
            (np.ones((*array.shape[:-1], 0), np.float32), BAD_PARAM),
            (np.repeat(array, 2, -1)[..., ::2], NOT_SUPPORTED),
        ]
        for replaced, status in wrong:
            arrays = {**_arrays(forward), name: replaced}
            assert raw_call(raw, arrays, _NUMBERS) == status, (name, replaced.shape)
            assert raw.reason()
            assert _untouched(arrays, name)


@pytest.mark.parametrize("name", _NUMBERS)
def test_refused_numbers(raw: Raw, name: str) -> None:
    for forward in (True, False):
        for value in (-1 if name.startswith("pad") else 0, 32768, -(2**31), 2**31 - 1):
            arrays = _arrays(forward)
            assert raw_call(raw, arrays, {**_NUMBERS, name: value}) == BAD_PARAM
            assert f"{name}: expected" in raw.reason()
            assert _untouched(arrays, "")


def test_numbers_of_displacements_are_those_of_the_result(raw: Raw) -> None:
    for forward in (True, False):
        arrays = _arrays(forward)
        assert raw_call(raw, arrays, {**_NUMBERS, "patch_w": 3}) == BAD_PARAM
        assert "patch_w" in raw.reason()


def test_outputs_that_overlap(raw: Raw) -> None:
    arrays = _arrays(True)
    arrays["output"] = np.zeros((2, 1, 1, 4, 5), np.float32)
    arrays["input2"] = arrays["input1"]  # inputs may be the same
    numbers = {**_NUMBERS, "patch_h": 1, "patch_w": 1}
    assert raw_call(raw, arrays, numbers) == SUCCESS, raw.reason()
    arrays["output"] = arrays["input1"].reshape(-1)[:40].reshape(2, 1, 1, 4, 5)
    assert raw_call(raw, arrays, numbers) == BAD_PARAM
    arrays = _arrays(False)
    arrays["grad_input2"] = arrays["grad_input1"]
    assert raw_call(raw, arrays, _NUMBERS) == BAD_PARAM
