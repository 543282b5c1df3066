"""adam_w, and mluOpAdamW for tensors of any shape."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops import functions
from pymluops.ops._described import described
from pymluops.ops._double import double_of
from pymluops.oracle import optimizer_steps as oracle
from support.arrays import any_bits
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Raw, Tensor
from support.comparison import assert_close, assert_same_bits
from support.selection import examples

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
RATES = {"lr": 0.01, "beta1": 0.9, "beta2": 0.95, "epsilon": 1e-8}
BIAS = {"bias1": 0.19, "bias2": 0.0975}


def arrays(shape: tuple[int, ...], seed: int = 0, kind: str = "float32") -> list[np.ndarray]:
    """Parameters, means, means of squares and gradients."""
    rng = np.random.default_rng(seed)
    param, momentum, velocity, grad = (rng.normal(size=shape) for _ in range(4))
    return [array.astype(kind) for array in (param, momentum, velocity**2, grad)]


def low(param: np.ndarray, momentum: np.ndarray, velocity: np.ndarray, grad: np.ndarray) -> Any:
    """The arguments with gradients of bfloat16, and room for the parameters in it."""
    return param, np.zeros(param.shape, BFLOAT16), momentum, velocity, grad.astype(BFLOAT16)


def adam(settings: pymluops.AdamWDescriptor, *given_arrays: np.ndarray, **changes: float) -> None:
    """Call mluOpAdamW."""
    functions.mluOpAdamW(settings, *given_arrays, **{**RATES, **BIAS, **changes})


def with_limits(one: np.ndarray, wanted: np.ndarray) -> None:
    """Equal but for rounding, NaN and infinities included."""
    np.testing.assert_allclose(one, wanted, rtol=2e-5, atol=1e-6)


# ---- values --------------------------------------------------------------------------------------


@examples(80)
@given(
    count=st.integers(1, 70) | st.just(40_000),
    step=st.integers(1, 5) | st.just(2**31 - 1),
    decay=st.floats(0, 1),
    scale=st.sampled_from([1.0, 0.5, 128.0]),
    keeps=st.booleans(),
    kind=st.sampled_from(["float32", "float64"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_steps(count: int, step: int, decay: float, scale: float, keeps: bool, kind: str, seed: int) -> None:
    param, momentum, velocity, grad = arrays((count,), seed, kind)
    numbers = {**RATES, "weight_decay": decay, "grad_scale": scale}
    wanted = oracle.numbered(param, momentum, velocity, grad, number=step, keeps=keeps, **numbers)
    operator = described("adam_w") if kind == "float32" else double_of(described("adam_w"))
    kept = grad.copy()
    found = operator(None, (param, momentum, velocity, grad), (step, *numbers.values(), keeps))
    assert found[0] is param and found[1] is momentum and found[2] is velocity
    assert_same_bits(grad, kept)
    for one, values in zip(found, wanted, strict=True):
        assert one.dtype == np.dtype(kind)
        np.testing.assert_allclose(one, values, rtol=2e-5 if kind == "float32" else 1e-12, atol=1e-6)


def test_the_python_function_changes_its_arguments() -> None:
    given_arrays = arrays((5,))
    wanted = oracle.numbered(*given_arrays, number=3, weight_decay=0.01, lr=1e-3, beta1=0.9, beta2=0.999, epsilon=1e-8)
    assert pymluops.adam_w(*given_arrays, 3) is None
    for one, values in zip(given_arrays, wanted, strict=False):
        assert_close(one, values)


@pytest.mark.parametrize("shape", [(4, 8192), (13, 133, 3), (1,), (2, 1, 3, 1, 2, 1, 2, 2)], ids=str)
@pytest.mark.parametrize("numbered", [False, True])
def test_tensors_of_any_shape(shape: tuple[int, ...], numbered: bool) -> None:
    """The vendor's shapes and numbers, and others."""
    param, momentum, velocity, grad = arrays(shape, 24)
    with pymluops.AdamWDescriptor(0.1, 1.0, False, numbered) as settings:
        if numbered:
            step = np.ones((1,), np.float32)
            numbers = {**RATES, "weight_decay": 0.1}
            wanted = oracle.numbered(param, momentum, velocity, grad, number=1, **numbers)
            adam(settings, param, step, momentum, velocity, grad)
            assert step[0] == 2
        else:
            given_arrays = low(param, momentum, velocity, grad)
            wanted = oracle.step(*given_arrays[:1], *given_arrays[2:], **RATES, **BIAS, weight_decay=0.1)
            adam(settings, *given_arrays)
            assert_same_bits(given_arrays[1].view(np.uint16), param.astype(BFLOAT16).view(np.uint16))
    for one, values in zip((param, momentum, velocity), wanted, strict=True):
        assert_close(one, values)


def test_nesterov_does_nothing_and_the_bias_of_numbered_steps_is_ignored() -> None:
    results = []
    for nesterov, bias in ((False, 0.5), (True, 7.0)):
        param, momentum, velocity, grad = arrays((9,))
        with pymluops.AdamWDescriptor(0.1, 2.0, nesterov, True) as settings:
            adam(settings, param, np.full(1, 4, np.float32), momentum, velocity, grad, bias1=bias, bias2=bias)
        results.append(np.concatenate([param, momentum, velocity]))
    assert_same_bits(*results)


@examples(60)
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([0.0, 1.0, -3.0]))
def test_any_bits(seed: int, scale: float) -> None:
    """NaN and infinities go where the formula leads them; numbered steps keep what has nothing finite any more."""
    rng = np.random.default_rng(seed)
    values = np.array([0, 1, -1, 1e-3, np.nan, np.inf, -np.inf, -0.0], np.float32)
    param, momentum, velocity, grad = (rng.choice(values, 40) for _ in range(4))
    for numbered in (False, True):
        p, m, v = param.copy(), momentum.copy(), velocity.copy()
        numbers = {**RATES, "weight_decay": 0.5, "grad_scale": scale}
        with pymluops.AdamWDescriptor(0.5, scale, False, numbered) as settings:
            if numbered:
                wanted = oracle.numbered(p, m, v, grad, number=2, keeps=True, **numbers)
                adam(settings, p, np.full(1, 2, np.float32), m, v, grad)
            else:
                other = low(p, m, v, grad)
                wanted = oracle.step(p, m, v, other[4], **numbers, **BIAS)
                adam(settings, *other)
                nan = np.isnan(p)
                assert (np.isnan(other[1].astype(np.float32)) == nan).all()
                assert_same_bits(other[1][~nan].view(np.uint16), p[~nan].astype(BFLOAT16).view(np.uint16))
        for one, expected in zip((p, m, v), wanted, strict=True):
            with_limits(one, expected)


def test_rounding_to_bfloat16() -> None:
    """Ties go to even; what is too large becomes infinite; what is not finite loses infinity, and is NaN."""
    bits = any_bits(np.random.default_rng(1), (4000,), "float32")
    bits[:3] = np.array([0x3F808000, 0x3F818000, 0x7F7FFFFF], np.uint32).view(np.float32)
    zeros = [np.zeros(bits.shape, np.float32) for _ in range(3)]
    given_arrays = low(bits.copy(), *zeros)
    with pymluops.AdamWDescriptor() as settings:
        adam(settings, *given_arrays)
    same = np.isfinite(bits)
    np.testing.assert_array_equal(given_arrays[0][same], bits[same])
    found = given_arrays[0][same]
    assert_same_bits(given_arrays[1][same].view(np.uint16), found.astype(BFLOAT16).view(np.uint16))
    assert np.isnan(given_arrays[1][~same].astype(np.float32)).all()


def test_the_number_of_a_step_stays_finite() -> None:
    for number, after in ((1.0, 2.0), (3.4028235e38, 3.4028235e38), (np.inf, 3.4028235e38), (2.0**24, 2.0**24)):
        param, momentum, velocity, grad = arrays((3,))
        step = np.array([number], np.float32)
        with pymluops.AdamWDescriptor(0, 1, False, True) as settings:
            adam(settings, param, step, momentum, velocity, grad)
        assert step[0] == np.float32(after)
        wanted = oracle.numbered(*arrays((3,)), number=number, **RATES)
        assert_close(param, wanted[0])


@pytest.mark.parametrize("numbered", [False, True])
def test_any_number_of_threads_gives_the_same_bits(numbered: bool) -> None:
    results, before = [], pymluops.get_num_threads()
    try:
        for threads in (1, 2, 7):
            pymluops.set_num_threads(threads)
            param, momentum, velocity, grad = arrays((100_003,))
            step = np.full(1, 3, np.float32)
            with pymluops.AdamWDescriptor(0.1, 1, False, numbered) as settings:
                other = low(param, momentum, velocity, grad)
                adam(settings, *((param, step, momentum, velocity, grad) if numbered else other))
            results.append(np.concatenate([param, momentum, velocity, other[1].astype(np.float32)]))
    finally:
        pymluops.set_num_threads(before)
    assert_same_bits(results[1], results[0])
    assert_same_bits(results[2], results[0])


# ---- refusals ------------------------------------------------------------------------------------

_NAMES = ("param", "param_h", "momentum", "velocity", "grad")


def _given(numbered: bool) -> dict[str, np.ndarray]:
    param, momentum, velocity, grad = arrays((2, 3))
    step = np.ones(1, np.float32)
    found = (param, step, momentum, velocity, grad) if numbered else low(param, momentum, velocity, grad)
    return dict(zip(_NAMES, found, strict=True))


@pytest.fixture(params=[False, True], ids=["bfloat16", "numbered"])
def numbered(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def _memory(array: np.ndarray) -> bytes:
    base = array if array.base is None else array.base
    return base.tobytes() if isinstance(base, np.ndarray) else array.tobytes()


def _status(raw: Raw, numbered: bool, changes: dict[str, Any]) -> int:
    """Status of the C function for arrays and numbers, some of them changed; a refused call writes nothing."""
    good = _given(numbered)
    given_arrays: dict[str, Any] = {**good, **{key: value for key, value in changes.items() if key in good}}
    numbers = {**RATES, **BIAS, **{key: value for key, value in changes.items() if key not in good}}
    before = [_memory(array) for array in given_arrays.values()]
    slot = raw.ffi.new("mluOpAdamWDescriptor_t *")
    assert raw.lib.mluOpCreateAdamWDescriptor(slot) == SUCCESS
    flag = raw.ffi.new("bool *", numbered)
    assert raw.lib.mluOpSetAdamWDescAttr(slot[0], 3, flag, 1) == SUCCESS
    order = ("lr", "beta1", "beta2", "bias1", "bias2", "epsilon")
    tensors = [Tensor(array) for array in given_arrays.values()]
    status = raw.status("mluOpAdamW", slot[0], *tensors, *(numbers[name] for name in order))
    assert raw.lib.mluOpDestroyAdamWDescriptor(slot[0]) == SUCCESS
    assert status == SUCCESS or [_memory(array) for array in given_arrays.values()] == before
    return status


@pytest.mark.parametrize("name", _NAMES)
def test_refused_tensors(raw: Raw, numbered: bool, name: str) -> None:
    good = _given(numbered)
    array = good[name]
    other = "param" if name != "param" else "momentum"
    for kind in (np.float16, np.float64, np.int32, np.float32 if array.dtype == BFLOAT16 else BFLOAT16):
        assert _status(raw, numbered, {name: array.astype(kind)}) == BAD_PARAM
        assert raw.reason().startswith(f"mluOpAdamW: {name}_desc: expected ")
    shifted = np.zeros(array.nbytes + array.itemsize, np.uint8)[1 : 1 + array.nbytes].view(array.dtype)
    assert _status(raw, numbered, {name: shifted.reshape(array.shape)}) == BAD_PARAM
    assert f"{name}: expected an address aligned" in raw.reason()
    if numbered and name == "param_h":  # any number of elements, but none
        assert _status(raw, numbered, {name: np.zeros(0, np.float32)}) == BAD_PARAM
        assert _status(raw, numbered, {name: np.ones((2, 2), np.float32)}) == SUCCESS
        return
    assert _status(raw, numbered, {name: np.zeros((2, 4), array.dtype)}) == BAD_PARAM
    assert "_desc: expected as many elements as param" in raw.reason()
    assert _status(raw, numbered, {name: np.zeros(0, array.dtype)}) == BAD_PARAM
    assert _status(raw, numbered, {name: np.zeros((2, 6), array.dtype)[:, ::2]}) == NOT_SUPPORTED
    if good[other].dtype == array.dtype:
        shared = good[other]
        assert _status(raw, numbered, {name: shared, other: shared}) == BAD_PARAM
        assert "own" in raw.reason() or "overlap" in raw.reason()


@pytest.mark.parametrize(
    ("name", "value"),
    [("beta1", -0.1), ("beta1", 1.1), ("beta1", np.nan), ("beta2", -1.0), ("beta2", 2.0), ("beta2", np.nan),
     ("epsilon", 0.0), ("epsilon", -1.0), ("epsilon", np.nan)],
)  # fmt: skip
def test_refused_numbers(raw: Raw, numbered: bool, name: str, value: float) -> None:
    assert _status(raw, numbered, {name: value}) == BAD_PARAM
    assert raw.reason().startswith(f"mluOpAdamW: {name}: expected ")


def test_the_order_of_the_checks(raw: Raw) -> None:
    """Types, numbers, elements and counts decide before strides."""
    strided = np.zeros((2, 8), np.float32)[:, ::2]
    for changes, told in (
        ({"param": np.zeros((2, 6), np.float16)[:, ::2]}, "param_desc: expected float"),
        ({"velocity": np.zeros((2, 4), np.float16), "momentum": strided}, "velocity_desc: expected float"),
        ({"momentum": np.zeros((2, 4), np.float32), "beta1": 3.0}, "beta1: expected "),
        ({"velocity": np.zeros(0, np.float32), "epsilon": 0.0}, "epsilon: expected "),
        ({"momentum": strided}, "momentum_desc: expected as many elements"),
    ):
        assert _status(raw, True, changes) == BAD_PARAM
        assert told in raw.reason()


def test_empty_tensors_are_refused(raw: Raw, numbered: bool) -> None:
    empty = {name: array[:0].copy() for name, array in _given(numbered).items() if array.ndim == 2}
    assert _status(raw, numbered, empty) == BAD_PARAM
    assert raw.reason().startswith("mluOpAdamW: velocity_desc: ")


def test_null_in_every_place(raw: Raw) -> None:
    """Each handle, descriptor and address may be NULL, and the settings destroyed: the call is refused."""
    ffi, lib = raw.ffi, raw.lib
    slot = ffi.new("mluOpAdamWDescriptor_t *")
    assert lib.mluOpCreateAdamWDescriptor(slot) == SUCCESS
    tensors, given_arrays = list[Any](), _given(False)
    for array in given_arrays.values():
        desc = ffi.new("mluOpTensorDescriptor_t *")
        assert lib.mluOpCreateTensorDescriptor(desc) == SUCCESS
        kind = 17 if array.dtype == BFLOAT16 else 2
        assert lib.mluOpSetTensorDescriptor_v2(desc[0], 4, kind, 2, ffi.new("int64_t[]", [2, 3])) == SUCCESS
        tensors += [desc[0], ffi.cast("void *", array.ctypes.data)]
    good, numbers = [raw.handle, slot[0], *tensors], [0.01, 0.9, 0.95, 0.19, 0.0975, 1e-8]
    before = [array.tobytes() for array in given_arrays.values()]
    for place in range(len(good)):
        changed = [*good[:place], ffi.NULL, *good[place + 1 :]]
        assert lib.mluOpAdamW(*changed, *numbers) == BAD_PARAM, place
    assert [array.tobytes() for array in given_arrays.values()] == before
    assert lib.mluOpAdamW(*good, *numbers) == SUCCESS, raw.reason()
    assert lib.mluOpDestroyAdamWDescriptor(slot[0]) == SUCCESS
    assert lib.mluOpAdamW(*good, *numbers) == BAD_PARAM
    assert "adamw_desc" in raw.reason()
    for desc in tensors[::2]:
        lib.mluOpDestroyTensorDescriptor(desc)
