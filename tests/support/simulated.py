"""What the tests of operators on the simulator share: their rows of cases, and the check of a profile's theory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops import sim
from support.data_files import facts
from support.devices import MODELS

every_model = pytest.mark.parametrize("model", MODELS)


def by_id(rows: list[dict[str, Any]]) -> Any:
    return pytest.mark.parametrize("row", rows, ids=lambda row: row["id"])


def partition_cases(family: str) -> list[dict[str, Any]]:
    """Cases chosen so that each branch of the kernels' partition policies runs."""
    rows: list[dict[str, Any]] = facts(f"partition_{family}.json")[family]
    return rows


def bytes_of(*arrays: np.ndarray) -> int:
    return sum(array.nbytes for array in arrays)


def assert_theory(function: str, operations: int, moved: Callable[[], int]) -> None:
    """`moved` makes a call of the function on the simulator and returns the bytes that it must move."""
    with pymluops.use("sim"), sim.profiling() as profile:
        io = moved()
    launches = profile.launches
    assert launches
    for launch in launches:
        assert launch.operator == function
        assert (launch.theory.io_bytes, launch.theory.operations) == (io, operations)
        model = launch.model
        assert launch.operator_ns == pytest.approx(profile.estimate_ns)
        assert launch.io_efficiency == pytest.approx(io / (profile.estimate_ns * model.bandwidth_gb_s))
        peak = 32 * launch.clusters * launch.cores_per_cluster * model.clock_mhz / 1e3
        assert launch.compute_efficiency == pytest.approx(operations / (profile.estimate_ns * peak))
        assert launch.directions
        assert any("native/ops/" in line.file for line in launch.lines)
