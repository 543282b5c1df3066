"""Fourier transforms: values of every kind of length, mluOpExecFFT with its plans, and its refusals."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.functions import mluOpExecFFT
from pymluops.oracle import fourier_transforms as oracle
from support.arrays import any_bits
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Raw
from support.comparison import assert_same_bits
from support.selection import examples

NOT_INITIALIZED = 1
#: Lengths of every way through the kernel: each factor, products, primes that need a convolution.
LENGTHS = (
    1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 19, 22, 25, 31, 32, 34, 36, 49, 61, 62, 64, 67, 71, 77, 90, 96,
    101, 105, 121, 127, 128, 134, 169, 210, 243, 251, 256, 343, 500, 509, 512,
)  # fmt: skip
COMPLEX, REAL = np.complex64, np.float32
KINDS = {"c2c": (COMPLEX, COMPLEX), "r2c": (REAL, COMPLEX), "c2r": (COMPLEX, REAL)}


def error(found: np.ndarray, expected: np.ndarray) -> float:
    """Root of the sum of squared differences by that of the squares."""
    size = float(np.linalg.norm(expected.ravel()))
    return float(np.linalg.norm((found - expected).ravel())) / (size or 1.0)


def assert_near(found: Any, expected: np.ndarray, n: int) -> None:
    """The error of float32 that the sheet of the operator allows; one of half is that of rounding."""
    limit = 1e-3 if found.dtype == np.float16 else 1e-6 * max(1.0, math.log2(n))
    assert found.shape == expected.shape
    assert error(np.asarray(found).astype(expected.dtype), expected) < limit, n


def signals(seed: int, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape)
    return (values + 1j * rng.normal(size=shape) if dtype == COMPLEX else values).astype(dtype)


# ---- Along one dim -------------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "after"), [(1, 1), (11, 1), (2, 3), (1, 19)])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_every_length(dtype: str, before: int, after: int) -> None:
    rng = np.random.default_rng(before * 100 + after)
    for n in LENGTHS if dtype == "float32" else LENGTHS[:30:2]:
        pairs = rng.normal(size=(before, n, after, 2)).astype(dtype)
        assert_near(pymluops.fft_forward(pairs, 0.5), oracle.fft_forward(pairs, 0.5), n)
        assert_near(pymluops.fft_inverse(pairs, 0.5), oracle.fft_inverse(pairs, 0.5), n)
        found = pymluops.fft_real_forward(pairs[..., 0].copy(), weight=1.5, scale_factor=2)
        assert_near(found, oracle.fft_real_forward(pairs[..., 0], n // 2 + 1, 1.5, 2), n)
        half = pairs[:, : n // 2 + 1].copy()
        assert_near(pymluops.fft_real_inverse(half, n), oracle.fft_real_inverse(half, n, 2, 1), n)


def test_transforms_undo_each_other() -> None:
    for n in (1, 2, 30, 37, 1021, 4096, 10007, 65536):
        pairs = np.random.default_rng(n).normal(size=(2, n, 1, 2)).astype(np.float32)
        assert_near(pymluops.fft_inverse(pymluops.fft_forward(pairs), 1 / n), pairs, n)
        real = pairs[..., 0].copy()
        back = pymluops.fft_real_inverse(pymluops.fft_real_forward(real), n, scale_factor=1 / n)
        assert_near(back, real, n)


def test_long_signals_against_numpy() -> None:
    """NumPy's own transform, in double, is exact enough where the definition takes too long."""
    for n in (1000, 1024, 1155, 1331, 2048, 3**10, 5**6, 30030, 65537, 2**17, 2**18 + 6):
        values = signals(n, (1, n), COMPLEX)
        pairs = values.view(REAL).reshape(1, n, 1, 2)
        found = pymluops.fft_forward(pairs).view(COMPLEX)[:, :, 0, 0]
        assert_near(found, np.fft.fft(values.astype(np.complex128)), n)
        real = values.real.copy()
        found = pymluops.fft_real_forward(real[..., None]).view(COMPLEX)[:, :, 0, 0]
        assert_near(found, np.fft.rfft(real.astype(np.float64)), n)


def test_a_wave_has_one_frequency() -> None:
    for n, k in ((8, 3), (60, 7), (67, 66)):
        wave = np.exp(2j * np.pi * k * np.arange(n) / n).astype(COMPLEX)
        found = pymluops.fft_forward(wave.view(REAL).reshape(1, n, 1, 2))[0, :, 0]
        expected = np.zeros((n, 2))
        expected[k, 0] = n
        np.testing.assert_allclose(found, expected, atol=1e-5 * n)


@pytest.mark.parametrize("after", [1, 3, 40])
def test_the_mean_of_real_signals_is_real(after: int) -> None:
    for n in LENGTHS:
        found = pymluops.fft_real_forward(signals(n, (2, n, after), REAL))
        assert (found[:, 0, :, 1] == 0).all(), n
        assert n % 2 == 1 or (found[:, n // 2, :, 1] == 0).all(), n


LONG_DOUBLE = """
import numpy as np, pymluops
for n in {lengths}:
    x = np.ones((1, n, 1), np.float32)
    pymluops.fft_forward(np.ones((1, n, 1, 2), np.float32))
    pymluops.fft_real_inverse(pymluops.fft_real_forward(x), n)
    assert abs(np.longdouble(1) / np.longdouble(3) - 1 / 3) < 1e-10, n
print("right")
"""


@pytest.mark.parametrize("level", ["x86-64", "x86-64-v3"])
def test_long_double_works_after_a_transform(level: str) -> None:
    """A call must not leave the x87 unit in the state of MMX."""
    program = LONG_DOUBLE.format(lengths=[*LENGTHS, 1000])
    environment = {**os.environ, "PYMLUOPS_INSTRUCTION_LEVEL": level}
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "right\n", done.stderr


def test_threads_change_nothing() -> None:
    before = pymluops.get_num_threads()
    for shape in ((1, 4096, 1, 2), (40, 1000, 1, 2), (3, 1009, 5, 2), (1, 30030, 1, 2), (4, 2187, 1, 2)):
        pairs, results = np.random.default_rng(1).normal(size=shape).astype(np.float32), []
        half = pairs[:, : shape[1] // 2 + 1].copy()
        try:
            for threads in (1, 2, 5):
                pymluops.set_num_threads(threads)
                found = pymluops.fft_forward(pairs), pymluops.fft_real_forward(pairs[..., 0].copy())
                results.append((*found, pymluops.fft_real_inverse(half, shape[1])))
        finally:
            pymluops.set_num_threads(before)
        for one in results[1:]:
            for array, first in zip(one, results[0], strict=True):
                assert_same_bits(array, first)


def test_signals_do_not_touch_each_other() -> None:
    """NaN and infinity make a signal unusable, and none beside it."""
    for n in (5, 16, 67, 90, 512):
        for bad in (np.nan, np.inf):
            pairs = np.random.default_rng(n).normal(size=(20, n, 1, 2)).astype(np.float32)
            pairs[3, n // 2, 0, 0] = bad
            real = pairs[..., 0].copy()
            for found in (pymluops.fft_forward(pairs), pymluops.fft_real_forward(real)):
                finite = np.isfinite(found).reshape(20, -1)
                assert not finite[3].all()
                assert np.delete(finite, 3, 0).all()


@examples(40)
@given(n=st.integers(1, 300), before=st.integers(1, 10), after=st.integers(1, 10), seed=st.integers(0, 2**32 - 1))
def test_any_bits_do_no_harm(n: int, before: int, after: int, seed: int) -> None:
    pairs = any_bits(np.random.default_rng(seed), (before, n, after, 2), np.float32)
    with np.errstate(all="ignore"):
        assert pymluops.fft_forward(pairs).shape == pairs.shape
        assert pymluops.fft_real_inverse(pairs[:, : n // 2 + 1].copy(), n).shape == (before, n, after)


def test_halves_that_are_too_large_become_infinite() -> None:
    pairs = np.full((1, 4, 1, 2), 60000, np.float16)
    found = pymluops.fft_forward(pairs)[0, :, 0]
    assert np.isposinf(found[0]).all()
    assert (found[1:] == 0).all()


# ---- mluOpExecFFT --------------------------------------------------------------------------------


def executed(
    values: np.ndarray, n: tuple[int, ...], kind: str, direction: int = 0, scale: float = 1.0, batched: bool = True
) -> np.ndarray:
    """Transform a packed array by a plan."""
    last = n[-1] // 2 + 1 if kind == "r2c" else n[-1]
    out = np.empty((*values.shape[: int(batched)], *n[:-1], last), KINDS[kind][1])
    with pymluops.FFTPlan(values, out, n) as plan:
        mluOpExecFFT(plan, values, scale, out, direction)
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_plans_of_one_dim(kind: str) -> None:
    for n in (1, 2, 7, 12, 67, 100, 210, 512):
        for batch, width in ((1, n), (3, n + 5), (17, max(1, n // 3))):
            values = signals(n, (batch, width), KINDS[kind][0])
            for direction in (0, 1):
                found = executed(values, (n,), kind, direction, 0.25)
                assert_near(found, oracle.transform(values, (n,), kind, direction, 0.25), n)
    values = signals(1, (30,), KINDS[kind][0])
    assert_near(executed(values, (40,), kind, batched=False), oracle.transform(values, (40,), kind, batched=False), 40)


def test_two_signals_of_six() -> None:
    values = [-6.08934, 3.77854, -0.914042, -9.94873, -6.18431, -4.55966,
              3.71034, 0.0674585, -1.95828, -1.18846, -2.47082, 1.36034]  # fmt: skip
    given = np.array(values, REAL).reshape(2, 6)
    found = executed(given, (6,), "r2c")
    assert_near(found, oracle.transform(given, (6,), "r2c"), 6)
    parts = found.view(REAL)
    np.testing.assert_allclose([parts.min(), parts.max()], [-23.9175, 7.82725], rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_plans_of_two_dims(kind: str) -> None:
    for n in ((1, 1), (4, 6), (5, 7), (16, 30), (67, 12), (3, 134), (40, 2)):
        whole = n[1] // 2 + 1 if kind == "c2r" else n[1]
        for rows, width in ((n[0], whole), (n[0] + 2, whole), (max(1, n[0] // 2), max(1, whole - 1))):
            for batch in (1, 3):
                values = signals(n[0], (batch, rows, width), KINDS[kind][0])
                for direction in (0, 1):
                    found = executed(values, n, kind, direction, 0.5)
                    assert_near(found, oracle.transform(values, n, kind, direction, 0.5), n[0] * n[1])
    values = signals(3, (6, 5), KINDS[kind][0])
    n = (6, 8) if kind == "c2r" else (6, 5)
    expected = oracle.transform(values, n, kind, batched=False)
    assert_near(executed(values, n, kind, batched=False), expected, 48)


class Plan:
    """A plan of the raw layer for arrays with strides."""

    def __init__(
        self,
        raw: Raw,
        values: np.ndarray,
        out: np.ndarray,
        n: tuple[int, ...],
        half: bool = False,
        steps: dict[str, tuple[int, ...]] | None = None,
    ) -> None:
        self.raw, ffi = raw, raw.ffi
        slot = ffi.new("mluOpFFTPlan_t *")
        assert raw.lib.mluOpCreateFFTPlan(slot) == SUCCESS
        self.plan = ffi.gc(slot[0], raw.lib.mluOpDestroyFFTPlan)
        given_steps = steps or {}
        descs = [
            self._describe(array, half, given_steps.get(side)) for side, array in (("input", values), ("output", out))
        ]
        raw.lib.mluOpSetTensorDescriptorOnchipDataType(descs[0], 1 if half else 2)
        sizes = ffi.new("size_t[2]")
        given = raw.handle, self.plan, *descs, len(n), list(n), sizes, sizes + 1
        assert raw.lib.mluOpMakeFFTPlanMany(*given) == SUCCESS, raw.reason()
        assert raw.lib.mluOpSetFFTReserveArea(raw.handle, self.plan, ffi.NULL) == SUCCESS

    def _describe(self, array: np.ndarray, half: bool, given: tuple[int, ...] | None) -> Any:
        ffi, lib = self.raw.ffi, self.raw.lib
        slot = ffi.new("mluOpTensorDescriptor_t *")
        assert lib.mluOpCreateTensorDescriptor(slot) == SUCCESS
        desc = ffi.gc(slot[0], lib.mluOpDestroyTensorDescriptor)
        pairs = half and array.dtype == np.float16 and array.ndim > 1 and array.shape[-1] == 2
        shape, strides = (array.shape[:-1], array.strides[:-1]) if pairs else (array.shape, array.strides)
        item = 4 if pairs else array.itemsize
        code = 15 if pairs else {"float16": 1, "float32": 2, "complex64": 16}[array.dtype.name]
        steps = list(given or (stride // item for stride in strides))
        assert lib.mluOpSetTensorDescriptorEx_v2(desc, 4, code, len(shape), list(shape), steps) == SUCCESS
        return desc

    def status(self, values: Any, out: Any, scale: float = 1.0, direction: int = 0) -> int:
        ffi = self.raw.ffi
        places = [ffi.NULL if one is None else ffi.cast("void *", _address(one)) for one in (values, out)]
        return int(
            self.raw.lib.mluOpExecFFT(self.raw.handle, self.plan, places[0], scale, ffi.NULL, places[1], direction)
        )


def _address(array: Any) -> int:
    return array if isinstance(array, int) else int(array.__array_interface__["data"][0])


def run(raw: Raw, values: np.ndarray, out: np.ndarray, n: tuple[int, ...], **options: Any) -> None:
    assert Plan(raw, values, out, n).status(values, out, **options) == SUCCESS, raw.reason()


@pytest.mark.parametrize("kind", KINDS)
def test_strides_of_one_dim(raw: Raw, kind: str) -> None:
    for n in (4, 9, 20, 67, 256):
        first, last = (n // 2 + 1 if kind == "c2r" else n), (n // 2 + 1 if kind == "r2c" else n)
        for batch in (1, 3, 10):
            for way in ("gaps", "batch innermost", "both"):
                space = [signals(n, (batch * 3, count * 2), dtype) for count, dtype in zip((first, last), KINDS[kind])]
                if way == "gaps":
                    values, out = space[0][::3, ::2], space[1][::3, 1::2]
                else:
                    values = np.asfortranarray(space[0][::3, ::2])
                    out = (
                        np.asfortranarray(space[1][::3, ::2])
                        if way == "both"
                        else np.ascontiguousarray(space[1][::3, ::2])
                    )
                before = space[1].copy()
                run(raw, values, out, (n,), scale=0.5)
                assert_near(out, oracle.transform(values, (n,), kind, 0, 0.5), n)
                if way == "gaps":  # what lies between the elements stays
                    assert_same_bits(space[1][:, ::2], before[:, ::2])
    signal = signals(5, (12,), COMPLEX)
    overlapping = np.lib.stride_tricks.as_strided(signal, (5, 8), (8, 8))
    out = np.empty((5, 8), COMPLEX)
    run(raw, overlapping, out, (8,))
    assert_near(out, oracle.transform(overlapping, (8,), "c2c"), 8)
    backwards = np.ascontiguousarray(overlapping)[::-1]
    run(raw, backwards, out[::-1], (8,))
    assert_near(out[::-1], oracle.transform(backwards, (8,), "c2c"), 8)


def test_dense_strides_of_two_dims(raw: Raw) -> None:
    values = signals(6, (3, 8, 10), COMPLEX)
    for order in ((0, 1, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0)):
        turned = np.ascontiguousarray(values.transpose(order)).transpose(np.argsort(order))
        out = np.empty_like(turned)
        run(raw, turned, out, (8, 10), direction=1)
        assert_near(out, oracle.transform(turned, (8, 10), "c2c", 1), 80)


def test_half_plans(raw: Raw) -> None:
    rng = np.random.default_rng(3)
    for n in (1, 8, 64, 1024):
        real = rng.normal(size=(5, n)).astype(np.float16)
        pairs = rng.normal(size=(5, n // 2 + 1, 2)).astype(np.float16)
        spectrum, signal = np.empty((5, n // 2 + 1, 2), np.float16), np.empty((5, n), np.float16)
        assert Plan(raw, real, spectrum, (n,), True).status(real, spectrum, 0.125) == SUCCESS
        expected = oracle.transform(real, (n,), "r2c", scale=0.125)
        assert_near(spectrum, oracle.as_pairs(expected), n)
        assert Plan(raw, pairs, signal, (n,), True).status(pairs, signal, 0.125) == SUCCESS
        assert_near(signal, oracle.transform(oracle.as_complex(pairs), (n,), "c2r", scale=0.125), n)
    pairs = rng.normal(size=(2, 3, 8, 2)).astype(np.float16)
    out = np.empty_like(pairs)
    assert Plan(raw, pairs, out, (3, 8), True).status(pairs, out, 1.0, 1) == SUCCESS
    assert_near(out, oracle.as_pairs(oracle.transform(oracle.as_complex(pairs), (3, 8), "c2c", 1)), 24)


def test_in_place(raw: Raw) -> None:
    for batch, n in ((1, 8), (5, 12), (40, 67), (3, 4096)):
        values = signals(n, (batch, n), COMPLEX)
        expected = oracle.transform(values, (n,), "c2c") if n < 1000 else np.fft.fft(values.astype(np.complex128))
        run(raw, values, values, (n,))
        assert_near(values, expected, n)
        # The results of r2c lie over the signals, which stand far enough from each other.
        space = np.zeros((batch, 2 * (n // 2 + 1)), REAL)
        space[:, :n] = signals(n, (batch, n), REAL)
        real, spectrum = space[:, :n], space.view(COMPLEX)
        expected = np.fft.rfft(real.astype(np.float64))
        far = np.lib.stride_tricks.as_strided(real, real.shape, real.strides)
        run(raw, far, spectrum, (n,))
        assert_near(spectrum, expected, n)
    # The results of c2r lie further apart than the spectra, over those of later signals.
    space = signals(2, (800,), REAL)
    spectra, reals = space[:400].view(COMPLEX).reshape(40, 5), space.reshape(40, 20)[:, :8]
    expected = oracle.transform(spectra, (8,), "c2r")
    run(raw, spectra, reals, (8,))
    assert_near(reals, expected, 8)
    images = signals(9, (3, 8, 10), COMPLEX)
    expected = oracle.transform(images, (8, 10), "c2c")
    run(raw, images, images, (8, 10))
    assert_near(images, expected, 80)


def test_in_place_results_must_not_reach_into_the_next_signal(raw: Raw) -> None:
    values = signals(1, (3, 8), COMPLEX)
    wide = signals(2, (3, 16), COMPLEX)
    near, far = wide.ravel()[:24].reshape(3, 8), wide[:, :8]
    kept = wide.copy()
    assert Plan(raw, near, far, (8,)).status(near, far) == BAD_PARAM
    assert "in place" in raw.reason()
    assert_same_bits(wide, kept)
    expected = oracle.transform(far, (8,), "c2c")
    assert Plan(raw, far, near, (8,)).status(far, near) == SUCCESS
    assert_near(near, expected, 8)
    reals = np.zeros((3, 8), REAL)
    assert Plan(raw, reals, np.empty((3, 5), COMPLEX), (8,)).status(reals, reals) == BAD_PARAM
    assert Plan(raw, np.empty((3, 5), COMPLEX), reals, (8,)).status(reals, reals) == BAD_PARAM
    # Memory that is shared in another way.
    shifted = values.ravel()[1:9].reshape(1, 8)
    assert Plan(raw, values[:1], shifted, (8,)).status(values, shifted) == BAD_PARAM


def test_overlapping_results_have_one_order(raw: Raw) -> None:
    """Of results that share memory the last one stays, whatever the number of threads."""
    values, before = signals(4, (20000, 16), COMPLEX), pymluops.get_num_threads()
    expected = oracle.transform(values[-1:], (16,), "c2c")
    try:
        for threads in (1, 2, 2, 2, 3):
            pymluops.set_num_threads(threads)
            one = np.zeros((1, 16), COMPLEX)
            run(raw, values, np.broadcast_to(one, (20000, 16)), (16,))
            assert_near(one, expected, 16)
    finally:
        pymluops.set_num_threads(before)


def test_no_elements(raw: Raw) -> None:
    out = np.full((3, 8), 7, COMPLEX)
    plan = Plan(raw, np.empty((3, 0), COMPLEX), out, (8,))
    assert plan.status(None, out) == SUCCESS
    assert (out == 0).all()
    images = np.full((2, 4, 6), 7, COMPLEX)
    for shape in ((2, 0, 6), (2, 4, 0)):
        assert Plan(raw, np.empty(shape, COMPLEX), images, (4, 6)).status(None, images) == SUCCESS
        assert (images == 0).all()
    nothing = np.empty((0, 8), COMPLEX)
    assert Plan(raw, nothing, nothing, (8,)).status(None, None) == SUCCESS


def test_refusals(raw: Raw) -> None:
    values, out = signals(1, (3, 8), COMPLEX), np.full((3, 8), 7, COMPLEX)
    plan = Plan(raw, values, out, (8,))
    for places, name in (((None, out), "input"), ((values, None), "output"), ((_address(values) + 1, out), "input")):
        assert plan.status(*places) == BAD_PARAM
        assert raw.reason().startswith(f"mluOpExecFFT: {name}: ")
    for direction in (-1, 2):
        assert plan.status(values, out, 1.0, direction) == BAD_PARAM
        assert raw.reason().startswith("mluOpExecFFT: direction: ")
    reals = np.zeros((3, 5), COMPLEX)
    assert Plan(raw, values.real.copy(), reals, (8,)).status(values.real.copy(), reals, 1.0, 9) == SUCCESS
    slot = raw.ffi.new("mluOpFFTPlan_t *")
    assert raw.lib.mluOpCreateFFTPlan(slot) == SUCCESS
    fresh = slot[0]
    null = raw.ffi.NULL
    assert raw.lib.mluOpExecFFT(raw.handle, fresh, null, 1, null, null, 0) == NOT_INITIALIZED
    assert raw.lib.mluOpDestroyFFTPlan(fresh) == SUCCESS
    assert raw.lib.mluOpExecFFT(raw.handle, fresh, null, 1, null, null, 0) == BAD_PARAM
    assert raw.lib.mluOpExecFFT(raw.handle, null, null, 1, null, null, 0) == BAD_PARAM
    assert (out == 7).all()


def test_refusals_of_two_dims_and_of_size(raw: Raw) -> None:
    space, out = signals(2, (3, 8, 12), COMPLEX), np.full((3, 8, 6), 7, COMPLEX)
    gaps = space[:, :, ::2]
    assert Plan(raw, gaps, out, (8, 6)).status(gaps, out) == BAD_PARAM
    assert "dense" in raw.reason()
    assert Plan(raw, out, gaps, (8, 6)).status(out, gaps) == BAD_PARAM
    assert Plan(raw, space, out, (8, 6)).status(space, out) == BAD_PARAM
    assert "at most 6" in raw.reason()
    signal = np.zeros((3, 8, 9), REAL)
    assert Plan(raw, space, signal, (8, 9)).status(space, signal) == BAD_PARAM
    assert "at most 5" in raw.reason()
    assert (out == 7).all()
    one = np.zeros((1, 4), COMPLEX)
    big = np.lib.stride_tricks.as_strided(one, (2**29, 4), (0, 8))
    assert Plan(raw, big, big, (4,)).status(None, None) == NOT_SUPPORTED


@pytest.mark.parametrize("steps", [(2**59, 1), (-(2**60), 1), (4, 2**58), (2**60 - 1, 2**60 - 1)])
@pytest.mark.parametrize("side", ["input", "output"])
def test_strides_beyond_memory(raw: Raw, side: str, steps: tuple[int, int]) -> None:
    near, out = signals(3, (5, 8), COMPLEX), np.full((5, 8), 7, COMPLEX)
    plan = Plan(raw, near, out, (8,), steps={side: steps})
    assert plan.status(near, out) == NOT_SUPPORTED
    assert f"strides of the {side}" in raw.reason()
    assert (out == 7).all()


def test_a_plan_keeps_its_tables_when_it_is_made_again(raw: Raw) -> None:
    plans = []
    for n in range(100, 140):  # more lengths than the library keeps tables of
        values = signals(n, (2, n), COMPLEX)
        plans.append((Plan(raw, values, np.empty_like(values), (n,)), values))
    for plan, values in plans:
        out = np.empty_like(values)
        assert plan.status(values, out) == SUCCESS
        assert_near(out, oracle.transform(values, (values.shape[1],), "c2c"), values.shape[1])
