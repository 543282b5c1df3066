"""Fourier transforms of few signals and of long ones: in four lanes, in all, and one after another."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

import pymluops
from ops.test_fourier_transforms import KINDS, assert_near, executed, signals
from pymluops.ops._double import double_of
from pymluops.oracle import fourier_transforms as oracle
from support import families
from support.comparison import assert_same_bits
from support.processes import python_output

BATCHES = (1, 3, 4, 5, 9)
#: Odd lengths that are products of two short ones, with less than a vector of rows or columns left.
ODD = (33, 45, 49, 63, 99, 121, 135, 183, 225, 255, 315, 671)
LONG = (
    (1, 3**10),
    (4, 1331),
    (3, 5**6),
    (4, 7**5),
    (5, 3**9),
    (17, 9009),
    (2, 45045),
    (3, 10007),
    (9, 4099),
    (3, 9000),
    (4, 2**14),
)


def called(name: str, given: np.ndarray, *scalars: float) -> np.ndarray:
    """Call an operator, or its function in double."""
    known = families.OPERATORS[name]
    operator = double_of(known) if given.dtype == np.float64 else known
    found: np.ndarray = operator(None, (given, None), scalars)
    return found


def transforms(pairs: np.ndarray) -> dict[str, np.ndarray]:
    """Every transform of pairs [batch, n, 1, 2], of their first parts and of the half of them."""
    n = pairs.shape[1]
    half = n // 2 + 1
    return {
        "forward": called("fft_forward", pairs, 0.5),
        "inverse": called("fft_inverse", pairs, 0.5),
        "real forward": called("fft_real_forward", pairs[..., 0].copy(), half, 1.5, 0.5),
        "real inverse": called("fft_real_inverse", pairs[:, :half].copy(), n, 1.5, 0.5),
    }


def by_definition(pairs: np.ndarray) -> dict[str, np.ndarray]:
    n = pairs.shape[1]
    return {
        "forward": oracle.fft_forward(pairs, 0.5),
        "inverse": oracle.fft_inverse(pairs, 0.5),
        "real forward": oracle.fft_real_forward(pairs[..., 0], n // 2 + 1, 1.5, 0.5),
        "real inverse": oracle.fft_real_inverse(pairs[:, : n // 2 + 1], n, 1.5, 0.5),
    }


def by_numpy(pairs: np.ndarray) -> dict[str, np.ndarray]:
    """In double, where the definition takes too long."""
    n = pairs.shape[1]
    values = oracle.as_complex(pairs)[:, :, 0]
    weights = oracle.weights(n, 1.5)
    found = {
        "forward": np.fft.fft(values) / 2,
        "inverse": np.fft.ifft(values, norm="forward") / 2,
        "real forward": np.fft.rfft(values.real) * weights / 2,
        "real inverse": np.fft.irfft(values[:, : n // 2 + 1] * np.where(weights == 1.5, 0.75, 1), n, norm="forward")
        / 2,
    }
    return {
        name: value[:, :, None] if name == "real inverse" else oracle.as_pairs(value)[:, :, None]
        for name, value in found.items()
    }


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("batch", BATCHES)
def test_odd_lengths_of_few_signals(batch: int, dtype: str) -> None:
    for n in ODD:
        pairs = np.random.default_rng(n + batch).normal(size=(batch, n, 1, 2)).astype(dtype)
        expected = by_definition(pairs)
        for name, found in transforms(pairs).items():
            assert_near(found, expected[name], n)
            if dtype == "float64":
                np.testing.assert_allclose(found, expected[name], atol=1e-13 * n)


@pytest.mark.parametrize("batch", BATCHES)
def test_other_lengths_of_few_signals(batch: int) -> None:
    for n in (2, 9, 27, 36, 67, 90, 134, 251, 256, 500):
        pairs = np.random.default_rng(n + batch).normal(size=(batch, n, 1, 2)).astype(np.float32)
        expected = by_definition(pairs)
        for name, found in transforms(pairs).items():
            assert_near(found, expected[name], n)


def test_both_ways_of_numpy_and_the_definition_agree() -> None:
    for n in (44, 45):
        pairs = np.random.default_rng(n).normal(size=(2, n, 1, 2))
        expected = by_definition(pairs)
        for name, found in by_numpy(pairs).items():
            np.testing.assert_allclose(found, expected[name], atol=1e-11)


@pytest.mark.parametrize(("batch", "n"), LONG)
def test_long_signals(batch: int, n: int) -> None:
    pairs = np.random.default_rng(n).normal(size=(batch, n, 1, 2)).astype(np.float32)
    expected = by_numpy(pairs)
    for name, found in transforms(pairs).items():
        assert_near(found, expected[name], n)


def test_frequency_zero_of_real_signals_has_no_imaginary_part() -> None:
    for n in (45, 3**9):
        real = np.random.default_rng(n).normal(size=(3, n, 1)).astype(np.float32)
        spectrum = pymluops.fft_real_forward(real)
        assert (spectrum[:, 0, 0, 1] == 0).all()
        # The inverse does not look at it.
        other = spectrum.copy()
        other[:, 0, 0, 1] = 7
        assert_same_bits(pymluops.fft_real_inverse(other, n), pymluops.fft_real_inverse(spectrum, n))


@pytest.mark.parametrize("kind", ["r2c", "c2r"])
def test_plans_of_odd_lengths(kind: str) -> None:
    """Signals shorter and longer than the length, and elements apart from each other."""
    for n in (45, 99, 243):
        for batch, width in ((1, n), (3, n + 5), (5, n // 3)):
            values = signals(n, (batch, width), KINDS[kind][0])
            assert_near(executed(values, (n,), kind, 0, 0.25), oracle.transform(values, (n,), kind, 0, 0.25), n)
        beside = np.random.default_rng(n).normal(size=(2, n, 2, 2)).astype(np.float32)
        real, half = beside[..., 0].copy(), beside[:, : n // 2 + 1].copy()
        assert_near(pymluops.fft_real_forward(real), oracle.fft_real_forward(real, n // 2 + 1, 1, 1), n)
        assert_near(pymluops.fft_real_inverse(half, n), oracle.fft_real_inverse(half, n, 2, 1), n)


def digests() -> dict[str, str]:
    """Hashes of results on every way."""
    found: dict[str, str] = {}
    for batch, n in (*LONG, *((batch, n) for batch in BATCHES for n in (9, 45, 63, 67, 90, 256, 671))):
        pairs = np.random.default_rng(n).normal(size=(batch, n, 1, 2)).astype(np.float32)
        for name, value in transforms(pairs).items():
            found[f"{name} {batch} {n}"] = hashlib.sha256(value.tobytes()).hexdigest()
    return found


@pytest.mark.parametrize("level", ["x86-64", "x86-64-v3"])
def test_levels_and_threads_change_nothing(level: str) -> None:
    code = "import json; from ops import test_fourier_transforms_few as few; print(json.dumps(few.digests()))"
    found = json.loads(python_output(code, PYMLUOPS_INSTRUCTION_LEVEL=level, PYMLUOPS_NUM_THREADS="3"))
    before = pymluops.get_num_threads()
    try:
        pymluops.set_num_threads(1)
        assert found == digests()
    finally:
        pymluops.set_num_threads(before)


def test_a_signal_has_the_same_bits_in_any_lane() -> None:
    """Three signals lie in four lanes, five in eight: the first ones do not depend on the others."""
    pairs = np.random.default_rng(2).normal(size=(7, 67, 1, 2)).astype(np.float32)
    every = pymluops.fft_forward(pairs)
    for count in (3, 4, 5):
        assert_same_bits(pymluops.fft_forward(pairs[:count].copy()), every[:count])


def test_nan_stays_in_its_signal() -> None:
    for batch, n in ((5, 67), (5, 45), (3, 27), (9, 4099), (3, 3**9)):
        pairs = np.random.default_rng(n).normal(size=(batch, n, 1, 2)).astype(np.float32)
        pairs[1, n // 3] = np.nan
        for found in transforms(pairs).values():
            finite = np.isfinite(found).reshape(batch, -1)
            assert not finite[1].all()
            assert np.delete(finite, 1, 0).all()
