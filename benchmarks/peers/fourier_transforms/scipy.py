"""Fourier transforms with SciPy's pocketfft, which takes as many threads as there are."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the function for the operator, on complex64 and float32."""
    scipy: Any = importlib.import_module("scipy.fft")
    n, operator = problem.case.parameters["n"], problem.case.operator
    given, out = problem.inputs["input"], outputs["out"]
    if operator != "fft_real_forward":
        given = given.view(np.complex64)[..., 0]
    calls = {
        "fft_forward": lambda: scipy.fft(given, axis=1, workers=threads),
        "fft_inverse": lambda: scipy.ifft(given, axis=1, norm="forward", workers=threads),
        "fft_real_forward": lambda: scipy.rfft(given, axis=1, workers=threads),
        "fft_real_inverse": lambda: scipy.irfft(given, n, axis=1, norm="forward", workers=threads),
    }

    def run() -> Arrays:
        found = calls[operator]()
        return {"out": found if operator == "fft_real_inverse" else found.view(np.float32).reshape(out.shape)}

    return {"pocketfft": run}
