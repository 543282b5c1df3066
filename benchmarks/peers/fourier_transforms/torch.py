"""Fourier transforms with PyTorch's own transforms."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.peers import Variants
from benchmarks.problem import Arrays, Problem


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the function for the operator."""
    torch: Any = importlib.import_module("torch")
    n, operator = problem.case.parameters["n"], problem.case.operator
    given = torch.from_numpy(problem.inputs["input"])
    if operator != "fft_real_forward":
        given = torch.view_as_complex(given)
    calls = {
        "fft_forward": lambda: torch.fft.fft(given, dim=1),
        "fft_inverse": lambda: torch.fft.ifft(given, dim=1, norm="forward"),
        "fft_real_forward": lambda: torch.fft.rfft(given, dim=1),
        "fft_real_inverse": lambda: torch.fft.irfft(given, n, dim=1, norm="forward"),
    }

    def run() -> Arrays:
        found = calls[operator]()
        return {"out": (torch.view_as_real(found) if found.is_complex() else found).contiguous().numpy()}

    return {"torch.fft": run}
