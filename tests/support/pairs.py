"""Calls of get_indice_pairs through Python and through C, for the tests of its results and of its refusals."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import pymluops
from pymluops.oracle.get_indice_pairs import Geometry, Pairs
from support.arrays import canary, is_canary
from support.c_calls import SUCCESS, Raw, Tensor
from support.comparison import assert_same_bits

SMALL = Geometry(2, (4, 5, 6), (3, 3, 3), (2, 2, 2), (1, 1, 1))
#: As many output rows as it has sites.
SMALL_ROWS = SMALL.batch * int(np.prod(SMALL.out))


def call(indices: np.ndarray, geometry: Geometry, **changes: Any) -> pymluops.IndicePairs:
    """The Python function."""
    g = geometry
    keywords: dict[str, Any] = {
        "batch_size": g.batch, "spatial_shape": g.space, "kernel_size": g.kernel, "stride": g.stride,
        "padding": g.padding, "dilation": g.dilation, "subm": g.subm, "out_spatial_shape": g.given_out,
    }  # fmt: skip
    return pymluops.get_indice_pairs(indices, **{**keywords, **changes})


@dataclasses.dataclass
class Outputs:
    """Output arrays of the C function, filled with a canary."""

    out: np.ndarray
    pairs: np.ndarray
    num: np.ndarray

    @staticmethod
    def for_rows(length: int, geometry: Geometry, rows: int) -> Outputs:
        cells = geometry.cells
        return Outputs(canary((rows, 4), "int32"), canary((cells, 2, length), "int32"), canary(cells, "int32"))

    def call(self, raw: Raw, desc: Any, indices: np.ndarray, workspace_size: int | None = None) -> int:
        """Status of the C function."""
        tensors = [Tensor(a) for a in (indices, self.pairs, self.out, self.num)]
        return raw.get_indice_pairs(desc, *tensors, workspace_size)

    def untouched(self) -> bool:
        return all(is_canary(a) for a in (self.out, self.pairs, self.num))


def assert_equal(got: Any, expected: Pairs) -> None:
    """All three results, bit for bit."""
    for one, other in zip(got, expected, strict=True):
        assert_same_bits(one, other)


def assert_c_gives(raw: Raw, indices: np.ndarray, geometry: Geometry, expected: Pairs, rows: int) -> None:
    """C succeeds with room for `rows` rows in out_indices, writes the expected ones and leaves the others alone."""
    desc, outputs = raw.sparse(geometry), Outputs.for_rows(len(indices), geometry, rows)
    assert outputs.call(raw, desc, indices) == SUCCESS, raw.reason()
    found = len(expected.out_indices)
    assert raw.num_act_out(desc) == found
    assert_equal((outputs.out[:found], outputs.pairs, outputs.num), expected)
    assert is_canary(outputs.out[found:])


def unique_rows(rng: np.random.Generator, geometry: Geometry, count: int) -> np.ndarray:
    """Distinct random sites in random order."""
    total = geometry.batch * int(np.prod(geometry.space))
    chosen = rng.choice(total, count, replace=False)
    return np.stack(np.unravel_index(chosen, (geometry.batch, *geometry.space)), 1).astype(np.int32)
