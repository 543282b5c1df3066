"""What get_indice_pairs refuses, and its workspace size."""

from __future__ import annotations

import dataclasses
import itertools
import re
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops.oracle.get_indice_pairs import Geometry, by_rule
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.pairs import SMALL, SMALL_ROWS, Outputs, assert_equal, call, unique_rows

# ---- Python and C --------------------------------------------------------------------------------


@pytest.mark.parametrize("validate", [True, False])
@pytest.mark.parametrize(
    "row", [[2, 0, 0, 0], [-1, 0, 0, 0], [0, 4, 0, 0], [0, 0, -1, 0], [0, 0, 0, 6], [0, 0, 0, 2**31 - 1]]
)
@pytest.mark.parametrize("subm", [False, True])
def test_a_row_outside_is_refused_and_named(raw: Raw, row: list[int], subm: bool, validate: bool) -> None:
    geometry = Geometry(2, (4, 5, 6), (3, 3, 3), padding=(1, 1, 1), subm=subm)
    indices = unique_rows(np.random.default_rng(5), geometry, 40)
    indices[17] = indices[23] = row
    desc, outputs = raw.sparse(geometry), Outputs.for_rows(40, geometry, 200)
    assert outputs.call(raw, desc, indices) == BAD_PARAM
    assert outputs.untouched()
    assert raw.num_act_out(desc) == 0
    with pytest.raises(pymluops.BadParamError, match="indices") as caught:
        call(indices, geometry, validate=validate)
    assert "17" in re.findall(r"-?\d+", str(caught.value))
    places = zip(("batch", "depth", "height", "width"), row, (2, 4, 5, 6), strict=True)
    wrong = next(name for name, value, size in places if not 0 <= value < size)
    assert (f"get_indice_pairs: indices: expected 0 <= {wrong} <" in str(caught.value)) == validate


@pytest.mark.parametrize("validate", [True, False])
@pytest.mark.parametrize("row", [0, 1, 1023, 1024, 2999])
@pytest.mark.parametrize("axis", range(4))
def test_one_row_outside_is_found_wherever_it_is(row: int, axis: int, validate: bool) -> None:
    indices = np.zeros((3000, 4), np.int32)
    sizes = (20, 10, 5, 3)
    for bad in (-1, sizes[axis]):
        indices[row, axis] = bad
        with pytest.raises(pymluops.BadParamError, match=rf"\brow {row}\b"):
            call(indices, Geometry(sizes[0], sizes[1:], (1, 1, 1)), validate=validate)
    indices[row, axis] = sizes[axis] - 1
    call(indices, Geometry(sizes[0], sizes[1:], (1, 1, 1)), validate=validate)


@pytest.mark.parametrize("validate", [True, False])
def test_of_many_rows_outside_the_first_is_named(validate: bool) -> None:
    # Many enough that several threads look for it.
    geometry = Geometry(1, (50, 100, 100), (1, 1, 1))
    indices = unique_rows(np.random.default_rng(8), geometry, 200_000)
    indices[60_007::5_000, 2] = 100
    for _ in range(20):
        with pytest.raises(pymluops.BadParamError, match=r"\brow 60007\b"):
            call(indices, geometry, validate=validate)


@pytest.mark.parametrize(
    "changes",
    [
        {"stride": (2, 1, 1), "dilation": (2, 1, 1)},
        {"stride": (1, 1, 3), "dilation": (1, 1, 2)},
        {"subm": True, "stride": (2, 1, 1)},
        {"subm": True, "dilation": (1, 2, 1)},
        {"subm": True, "given_out": (4, 5, 5)},
    ],
    ids=str,
)
def test_combinations_that_are_refused(raw: Raw, changes: dict[str, Any]) -> None:
    geometry = dataclasses.replace(Geometry(2, (4, 5, 6), (3, 3, 3), padding=(1, 1, 1)), **changes)
    geometry = dataclasses.replace(geometry, given_out=geometry.given_out or (4, 5, 6))
    indices = np.zeros((1, 4), np.int32)
    outputs = Outputs.for_rows(1, geometry, 27)
    assert outputs.call(raw, raw.sparse(geometry), indices) == BAD_PARAM
    assert outputs.untouched()
    with pytest.raises(pymluops.BadParamError):
        call(indices, geometry)


@pytest.mark.parametrize(
    "changes",
    [
        {"batch_size": 0}, {"batch_size": -1}, {"spatial_shape": (0, 5, 6)}, {"kernel_size": 0},
        {"kernel_size": (3, -1, 3)}, {"stride": 0}, {"padding": -1}, {"dilation": 0},
        {"out_spatial_shape": (0, 1, 1)}, {"kernel_size": 9, "padding": 0},
        {"spatial_shape": (4, 5)}, {"spatial_shape": (4, 5, 6, 7)}, {"kernel_size": (3, 3)}, {"batch_size": 2**31},
        {"spatial_shape": (2**31, 1, 1)}, {"padding": 2**40},
    ],
    ids=str,
)  # fmt: skip
def test_numbers_that_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(pymluops.BadParamError) as caught:
        call(np.zeros((1, 4), np.int32), SMALL, **changes)
    assert any(name in str(caught.value) for name in changes), str(caught.value)


@pytest.mark.parametrize(
    "indices",
    [
        np.zeros((3, 4), np.int64), np.zeros((3, 4), np.float32), np.zeros((3, 4), np.uint32),
        np.zeros((3, 3), np.int32), np.zeros((3, 5), np.int32), np.zeros(4, np.int32),
        np.zeros((3, 4, 1), np.int32), np.zeros((6, 4), np.int32)[::2],
        np.zeros((4, 3), np.int32).T, np.zeros((3, 4), np.int32).astype(">i4"),
    ],
    ids=lambda a: f"{a.dtype.str}{list(a.shape)}{list(a.strides)}",
)  # fmt: skip
def test_indices_that_are_refused(indices: np.ndarray) -> None:
    with pytest.raises(pymluops.BadParamError, match="indices"):
        call(indices, SMALL)


def test_more_rows_than_sites_are_refused(raw: Raw) -> None:
    geometry = Geometry(1, (1, 1, 2), (1, 1, 1))
    indices = np.zeros((3, 4), np.int32)
    outputs = Outputs.for_rows(3, geometry, 2)
    assert outputs.call(raw, raw.sparse(geometry), indices) == BAD_PARAM
    assert outputs.untouched()
    with pytest.raises(pymluops.BadParamError):
        call(indices, geometry)


# ---- the C functions alone -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("which", "replacement"),
    [
        (0, Descriptor((40, 3), "int32")),
        (0, Descriptor((40,), "int32")),
        (0, Descriptor((39, 4), "int32")),
        (0, Descriptor((40, 4), "int64")),
        (0, Descriptor((40, 4), "float32")),
        (1, Descriptor((27, 2), "int32")),
        (1, Descriptor((27, 2, 39), "int32")),
        (1, Descriptor((27, 3, 40), "int32")),
        (1, Descriptor((26, 2, 40), "int32")),
        (2, Descriptor((36, 3), "int32")),
        (2, Descriptor((37, 4), "int32")),
        (2, Descriptor((36, 4), "int16")),
        (3, Descriptor((26,), "int32")),
        (3, Descriptor((27, 1), "int32")),
        (3, Descriptor((27,), "uint32")),
    ],
    ids=str,
)
def test_descriptors_that_do_not_fit(raw: Raw, which: int, replacement: Descriptor) -> None:
    indices, outputs = np.zeros((40, 4), np.int32), Outputs.for_rows(40, SMALL, SMALL_ROWS)
    tensors = [Tensor(a) for a in (indices, outputs.pairs, outputs.out, outputs.num)]
    wrong: list[Any] = list(tensors)
    wrong[which] = replacement
    desc = raw.sparse(SMALL)
    assert raw.workspace_size(desc, *wrong)[0] == BAD_PARAM
    room = np.empty(1 << 20, np.uint8)
    arguments: list[Any] = [wrong[0], raw.ffi.cast("void *", room.ctypes.data), room.size, *wrong[1:]]
    arguments[0 if which == 0 else which + 2] = dataclasses.replace(replacement, pair=True)
    assert raw.status("mluOpGetIndicePairs", desc, *arguments) == BAD_PARAM
    assert outputs.untouched()
    assert raw.num_act_out(desc) == 0


def test_strided_tensors_are_not_supported(raw: Raw) -> None:
    wide = np.zeros((40, 8), np.int32)
    outputs, desc = Outputs.for_rows(40, SMALL, SMALL_ROWS), raw.sparse(SMALL)
    assert outputs.call(raw, desc, wide[:, ::2]) == NOT_SUPPORTED
    assert outputs.untouched()


def test_a_workspace_that_is_too_small_is_refused(raw: Raw) -> None:
    indices = unique_rows(np.random.default_rng(6), SMALL, 40)
    outputs, desc = Outputs.for_rows(40, SMALL, SMALL_ROWS), raw.sparse(SMALL)
    tensors = [Tensor(a) for a in (indices, outputs.pairs, outputs.out, outputs.num)]
    status, need = raw.workspace_size(desc, *tensors)
    assert status == SUCCESS
    if need:
        for size in {0, need - 1}:
            assert outputs.call(raw, desc, indices, size) == BAD_PARAM
            assert "workspace" in raw.reason()
            assert outputs.untouched()
    assert outputs.call(raw, desc, indices, need) == SUCCESS


def test_workspace_size_of_anything_empty_is_zero(raw: Raw) -> None:
    tensors = [Descriptor(s, "int32") for s in ((0, 4), (27, 2, 0), (10, 4), (27,))]
    assert raw.workspace_size(raw.sparse(SMALL), *tensors) == (SUCCESS, 0)
    # Before every other check: the ranks are wrong here.
    tensors = [Descriptor(s, "float32") for s in ((0,), (27, 2), (10,), (27, 3))]
    assert raw.workspace_size(raw.sparse(SMALL), *tensors) == (SUCCESS, 0)


def test_workspace_grows_with_the_candidates_and_not_with_the_space(raw: Raw) -> None:
    def need(geometry: Geometry, rows: int) -> int:
        shapes = ((rows, 4), (geometry.cells, 2, rows), (rows, 4), (geometry.cells,))
        status, size = raw.workspace_size(raw.sparse(geometry), *(Descriptor(s, "int32") for s in shapes))
        assert status == SUCCESS, raw.reason()
        return size

    base = Geometry(4, (41, 100, 100), (3, 3, 3), padding=(1, 1, 1))
    for subm, size in itertools.product((True, False), (100, 1440, 100_000, 2**27)):
        geometry = dataclasses.replace(base, space=(41, size, size), subm=subm)
        for rows in (1000, 100_000):
            assert need(geometry, rows) <= 27 * rows * 64 + 65536


@pytest.mark.parametrize("changes", [{"dims": 4}, {"dims": 3}, {"transpose": 1}, {"inverse": 1}], ids=str)
def test_a_refused_setting_leaves_the_descriptor_as_it_was(raw: Raw, changes: dict[str, int]) -> None:
    desc, indices = raw.sparse(SMALL), unique_rows(np.random.default_rng(7), SMALL, 40)
    other = Geometry(1, (9, 9, 9), (1, 1, 1))
    assert raw.set_sparse(desc, other, **changes) == BAD_PARAM
    expected = by_rule(indices, SMALL)
    outputs = Outputs.for_rows(40, SMALL, SMALL_ROWS)
    assert outputs.call(raw, desc, indices) == SUCCESS
    assert_equal((outputs.out[: len(expected.out_indices)], outputs.pairs, outputs.num), expected)
