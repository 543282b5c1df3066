"""get_indice_pairs on the simulator: the branches of the partition policy under all checkers, and theory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops.oracle.get_indice_pairs import Geometry, vectorised
from support.comparison import assert_same_bits
from support.devices import MODELS, SPARSE_MODELS, on_both, watched
from support.pairs import call as call_pairs
from support.simulated import assert_theory, by_id, partition_cases

PAIRS = partition_cases("get_indice_pairs")


def rows_for(row: dict[str, Any]) -> np.ndarray:
    """Input rows as the case asks for them."""
    if "indices" in row:
        return np.array(row["indices"], np.int32)
    rng = np.random.default_rng(6)
    box = (row["batch"], *row.get("box", row["space"]))
    places = int(np.prod(box))
    numbers = rng.choice(places, row["rows"], replace=bool(row.get("repeated")))
    if row.get("ascending"):
        numbers.sort()
    return np.stack(np.unravel_index(numbers, box), axis=1).astype(np.int32)


def geometry_of(row: dict[str, Any]) -> Geometry:
    triples = (tuple(row[name]) for name in ("space", "kernel", "stride", "padding", "dilation"))
    return Geometry(row["batch"], *triples, subm=row["subm"], given_out=tuple(row["out"]))


@pytest.mark.sampled("model", "row")
@pytest.mark.parametrize("model", SPARSE_MODELS)
@by_id(PAIRS)
def test_every_branch(model: str, row: dict[str, Any]) -> None:
    indices, geometry = rows_for(row), geometry_of(row)
    found, expected = on_both(model, lambda: call_pairs(indices, geometry))
    for one, other in zip(found, expected, strict=True):
        assert_same_bits(one, other)
    if row["rows"] <= 100 and geometry.cells <= 27:
        for one, other in zip(found, vectorised(indices, geometry), strict=True):
            assert_same_bits(one, other)


@pytest.mark.parametrize("model", sorted(set(MODELS) - set(SPARSE_MODELS)))
def test_it_needs_architecture_372(model: str) -> None:
    indices, geometry = rows_for(PAIRS[0]), geometry_of(PAIRS[0])
    with watched(model), pytest.raises(pymluops.ArchMismatchError, match="372"):
        call_pairs(indices, geometry)


def test_it_takes_a_million_rows_and_4096_filter_cells_at_most() -> None:
    """As production does; the library for the CPU has no such limits."""
    one = np.zeros((1, 4), np.int32)
    filters = {"batch_size": 1, "spatial_shape": (40, 40, 40), "kernel_size": (17, 17, 17), "padding": 8}
    rows = np.zeros((1_000_001, 4), np.int32)
    rows[:, 1:] = np.stack(np.unravel_index(np.arange(len(rows)), (101, 101, 101)), 1)
    many = {"batch_size": 1, "spatial_shape": (101, 101, 101), "kernel_size": 1}
    with watched(SPARSE_MODELS[0]):
        with pytest.raises(pymluops.BadParamError, match=r"number of filter cells.* 4096"):
            pymluops.get_indice_pairs(one, **filters)
        with pytest.raises(pymluops.BadParamError, match=r"number of rows.* 1000000"):
            pymluops.get_indice_pairs(rows, **many)
    assert pymluops.get_indice_pairs(one, **filters).indice_num.shape == (17**3,)
    assert len(pymluops.get_indice_pairs(rows, **many).out_indices) == len(rows)


@pytest.mark.parametrize("subm", [False, True])
def test_theory(subm: bool) -> None:
    cells = np.random.default_rng(7).permutation(5 * 6 * 7)[:40]
    indices = np.stack([np.zeros(40, int), *np.unravel_index(cells, (5, 6, 7))], axis=1).astype(np.int32)
    rows, volume = 40, 27
    out = (5, 6, 7) if subm else (3, 4, 5)
    both, grid, counts = rows * volume, math.prod(out) + 1, volume + 1
    if subm:
        moved = (4 * rows + 4 * both) + rows + 3 * both + 3 * rows + (2 * rows + grid) + (2 * both + grid)
        moved += both + rows + counts
        operations = 43 * both + 4 * rows + rows + both + 2 * both + rows + both + both + counts
    else:
        moved = (4 * rows + 3 * both) + both + 3 * both + 5 * both + 2 * (2 * both + grid) + (both + rows) + 2 * both
        moved += counts
        operations = (43 + 1 + 2 + 6 + 4) * both + counts

    def call() -> int:
        pymluops.get_indice_pairs(
            indices, batch_size=1, spatial_shape=(5, 6, 7), kernel_size=3, padding=int(subm), subm=subm
        )
        return 4 * moved

    assert_theory("mluOpGetIndicePairs", operations, call)
