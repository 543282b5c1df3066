"""A kernel of ``examples/kernels`` with arguments and an oracle, and how it is run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import pymluops
from pymluops import bang

KERNELS = Path(__file__).resolve().parents[2] / "examples" / "kernels"
#: Architectures of the simulated cards: MLU270, MLU290, MLU370, MLU590.
ALL_CARDS, SINCE_370, ONLY_590 = (270, 290, 372, 592), (372, 592), (592,)


@dataclass(frozen=True)
class Out:
    """An array that the kernel writes wholly; it holds nothing before."""

    shape: Any
    dtype: Any = np.float32


@dataclass(frozen=True)
class Changed:
    """An array that the kernel reads and writes."""

    array: np.ndarray


@dataclass(frozen=True)
class Case:
    """A launch of a kernel.

    Attributes
    ----------
    kernel : str
        The name of the source without its end, and of the kernel where `entry` is empty.
    dim, kind : int or tuple, str
        Of the launch.
    arguments : callable
        Makes arrays, `Out`, `Changed` and numbers, in the order of the kernel's parameters.
    oracle : callable
        Gets the arguments without `Out`, and gives the arrays for `Out` and `Changed` in their
        order.
    tolerance : float
        How far results may be from the oracle, relative to the largest one; 0: not at all.
    archs : tuple of int
        Cards that have what the kernel uses.
    """

    kernel: str
    dim: Any
    kind: str
    arguments: Callable[[np.random.Generator], Sequence[Any]]
    oracle: Callable[..., Any]
    tolerance: float = 0.0
    archs: tuple[int, ...] = ALL_CARDS
    entry: str = ""

    @property
    def name(self) -> str:
        return f"{self.kernel}-{self.entry}" if self.entry else self.kernel

    @property
    def path(self) -> Path:
        return KERNELS / f"{self.kernel}.mlu"


def rng_of(case: Case) -> np.random.Generator:
    return np.random.default_rng(list(case.name.encode()))


def expected_of(case: Case, arguments: Sequence[Any]) -> list[np.ndarray]:
    values = [value.array.copy() if isinstance(value, Changed) else value for value in arguments]
    expected = case.oracle(*(value for value in values if not isinstance(value, Out)))
    return list(expected) if isinstance(expected, (tuple, list)) else [expected]


def run(case: Case, kernel: bang.Kernel, arguments: Sequence[Any]) -> list[np.ndarray]:
    """Launch with arrays on the device and return what the kernel wrote."""
    passed = [on_device(value) for value in arguments]
    kernel[case.dim, case.kind](*passed)
    pairs = zip(arguments, passed, strict=True)
    return [there.to_host() for value, there in pairs if isinstance(value, (Out, Changed))]


def on_device(value: Any) -> Any:
    if isinstance(value, Out):
        return pymluops.DeviceArray(value.shape, value.dtype)
    array = value.array if isinstance(value, Changed) else value
    return pymluops.DeviceArray.from_host(array) if isinstance(array, np.ndarray) else array


def assert_close(case: Case, results: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected, strict=True):
        assert result.shape == np.shape(wanted)
        if not case.tolerance:
            np.testing.assert_array_equal(result, wanted, case.name)
        else:
            scale = max(float(np.max(np.abs(wanted))), 1e-30)
            error = float(np.max(np.abs(result.astype(np.float64) - wanted))) / scale
            assert error <= case.tolerance, f"{case.name}: {error}"


def together(kernels: Iterable[str]) -> str:
    """One source out of several, each in a namespace of its own."""
    parts = ["#include <bang.h>", "#include <bang_fusor.h>"]
    for kernel in kernels:
        parts.append(f'namespace {kernel}_mlu {{\n#include "{KERNELS / kernel}.mlu"\n}}')
    return "\n".join(parts) + "\n"


def entry_of(case: Case, *, alone: bool = False) -> str:
    """The name of the kernel in a source of its own, or in one of `together`."""
    name = case.entry or case.kernel
    return name if alone else f"{case.kernel}_mlu::{name}"
