"""Fourier transforms: transforms of complex and real signals along the second dim."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Arrays, Problem, TensorCall, TinyCall, close, generator


def build(case: Case) -> Problem:
    """Make signals or half spectra."""
    facts, rng = case.parameters, generator(case)
    before, n, after = facts["batch"], facts["n"], facts["beside"]
    signal, half = (before, n, after), (before, n // 2 + 1, after, 2)
    shapes = {
        "fft_forward": ((*signal, 2), (*signal, 2), ()),
        "fft_inverse": ((*signal, 2), (*signal, 2), ()),
        "fft_real_forward": (signal, half, (n // 2 + 1,)),
        "fft_real_inverse": (half, signal, (n,)),
    }
    given, wanted, numbers = shapes[case.operator]
    values = rng.standard_normal(given, np.float32).astype(case.dtype)
    operator = getattr(pymluops, case.operator)

    def run(out: Arrays) -> Arrays:
        operator(values, *numbers, **out)
        return out

    def check(expected: Arrays, found: Arrays) -> None:
        close("out", expected["out"] / n**0.5, found["out"] / n**0.5, 1e-4)

    return Problem(case, {"input": values}, {"out": (wanted, np.dtype(case.dtype))}, run, check)


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow one signal."""
    return {"": {"batch": 1, "n": max(2, elements // 4), "beside": 1}}


def tiny() -> list[TinyCall]:
    """Return a call of each operator on four values."""
    pairs, real, half = (np.ones(shape, np.float32) for shape in ((1, 4, 1, 2), (1, 4, 1), (1, 3, 1, 2)))
    names = {"x": pairs, "r": real, "h": half, "o": pairs.copy(), "ro": real.copy(), "ho": half.copy()}
    return [
        TinyCall("fft_forward", "op(x, out=o)", names),
        TinyCall("fft_inverse", "op(x, out=o)", names),
        TinyCall("fft_real_forward", "op(r, 3, out=ho)", names),
        TinyCall("fft_real_inverse", "op(h, 4, out=ro)", names),
    ]


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with real signals."""
    values = np.random.default_rng(0).random((2, 16), np.float32)
    given, signals = tensor(values), values.reshape(2, 16, 1)
    return TensorCall("rfft", lambda: pymluops.fft_real_forward(signals, 9), lambda: ops.rfft(given))
