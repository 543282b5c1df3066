"""The random numbers of cases: known bits, and those of the C++ library of this machine."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymluops.gencase._random import gaussian, uniform
from support.selection import examples

REALS: dict[str, Any] = {"float": np.float32, "double": np.float64}


def hexadecimal(values: np.ndarray) -> list[str]:
    return [f"{int(bits):x}" for bits in values.view(f"u{values.itemsize}")]


def test_known_bits() -> None:
    assert hexadecimal(uniform(233, -1.5, 2.5, 4)) == ["bfbf10fc", "3f8bee94", "bfa34eb7", "3ffb2048"]
    assert hexadecimal(uniform(23, 10, -10, 3)) == ["411ff141", "4117e1c3", "401afab4"]
    assert hexadecimal(uniform(7, -1.5, 2.5, 2, np.float64)) == ["400176e725f5dc81", "bfe50caad74a2739"]
    assert hexadecimal(gaussian(5, 1, 2, 3)) == ["bee42610", "403c6a20", "beb85864"]


@given(st.integers(-(2**31), 2**31 - 1), st.integers(0, 400))
@examples(60)
def test_one_number_at_a_time(seed: int, count: int) -> None:
    state, wanted = seed % 2**64 % 2147483647 or 1, []
    for _ in range(count):
        state = 16807 * state % 2147483647
        wanted.append(min(np.float32(state - 1) / np.float32(2**31), np.float32(1 - 2**-24)))
    assert uniform(seed, 0, np.nextafter(np.float32(1), np.float32(2)), count).tolist() == wanted


def test_blocks_follow_one_another() -> None:
    state, bound = 5, 3 * (1 << 16) + 7
    for _ in range(bound):
        state = 16807 * state % 2147483647
    last = uniform(5, 0, np.nextafter(np.float32(1), np.float32(2)), bound)[-1]
    assert last == np.float32(state - 1) / np.float32(2**31)


def test_equal_bounds_and_seeds_of_nothing() -> None:
    assert uniform(3, 2.5, 2.5, 3).tolist() == [2.5] * 3
    assert uniform(0, 0, 1, 5).tolist() == uniform(1, 0, 1, 5).tolist() == uniform(2147483647, 0, 1, 5).tolist()
    assert not uniform(1, 0, 1, 0).size
    assert not gaussian(1, 0, 1, 0).size


def test_upper_bound_is_never_drawn() -> None:
    upper = np.nextafter(np.float32(1), np.float32(2))
    assert set(uniform(9, 1.0, float(upper), 10_000).tolist()) == {1.0}


@pytest.fixture(scope="module")
def program(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source, made = Path(__file__).with_name("libstdcpp_numbers.cpp"), tmp_path_factory.mktemp("numbers") / "numbers"
    subprocess.run([compiler, "-std=c++17", "-O1", "-ffp-contract=off", source, "-o", made], check=True)
    return made


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize(
    ("kind", "seed", "first", "second"),
    [
        ("uniform", 23, -100.0, 100.0),
        ("uniform", 30, 0.1, 10.0),
        ("uniform", -7, 5.0, -5.0),
        ("uniform", 2147483646, 0.0, 1e-30),
        ("gaussian", 23, 0.0, 1.0),
        ("gaussian", -1, -3.5, 0.1),
        ("gaussian", 0, 1e6, 1e-3),
    ],
)
def test_numbers_of_the_library(real: str, kind: str, seed: int, first: float, second: float, program: Path) -> None:
    command = [program, kind, real, *map(str, (seed, first, second, 20_001))]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    made = (uniform if kind == "uniform" else gaussian)(seed, first, second, 20_001, REALS[real])
    assert made.view(f"u{made.itemsize}").tolist() == list(map(int, printed.split()))
