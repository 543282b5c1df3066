"""The cases that ship with the vendor's tests pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from gencase import vendor_cases
from gencase.vendor_cases import Row
from pymluops import gencase

ROWS = vendor_cases.rows()
#: Operators of which the simulator has kernels.
SIMULATED = ("tin_shift", "psamask", "border_align", "three_interpolate", "get_indice_pairs")


def named(rows: list[Row], quick: int) -> list[object]:
    """Return the rows as parameters; those with more elements than `quick` are thorough ones."""
    return [
        pytest.param(row, id=f"{row.operator}-{row.case}", marks=[pytest.mark.thorough] if row.elements > quick else [])
        for row in rows
    ]


def test_there_are_so_many() -> None:
    assert len(ROWS) == 115
    assert len({(row.operator, row.case) for row in ROWS}) == 115


@pytest.mark.parametrize("row", named(ROWS, 100_000))
def test_it_passes(row: Row, tmp_path: Path) -> None:
    path = tmp_path / f"{row.case}.prototxt"
    vendor_cases.write(row, path)
    baselines = ["oracle", *(["file"] if vendor_cases.has_baseline(row) else [])]
    for against in baselines:
        result = gencase.read(path).run("cpu", against)
        assert result.passed, result


@pytest.mark.parametrize("row", named([row for row in ROWS if row.operator.startswith(SIMULATED)], 0))
def test_it_passes_on_the_simulator(row: Row, tmp_path: Path) -> None:
    path = tmp_path / f"{row.case}.prototxt"
    vendor_cases.write(row, path)
    result = gencase.read(path).run("sim", "cpu")
    assert result.passed, result
