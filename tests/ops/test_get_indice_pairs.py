"""Results of get_indice_pairs; what it refuses is in test_get_indice_pairs_refusals.py."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import time

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import get_indice_pairs
from pymluops.oracle.get_indice_pairs import Geometry, Triple, by_rule, vectorised
from support.arrays import is_canary
from support.c_calls import BAD_PARAM, SUCCESS, Raw
from support.data_files import facts
from support.pairs import SMALL, Outputs, assert_c_gives, assert_equal, call, unique_rows
from support.selection import examples
from support.signatures import assert_signature

CASES = facts("acceptance_shapes.json")["get_indice_pairs"]


def corner_rows(geometry: Geometry) -> np.ndarray:
    """The sites that lie at 0 or size - 1 on every axis, batch included."""
    ends = [(0, size - 1) for size in (geometry.batch, *geometry.space)]
    return np.unique(np.stack(np.meshgrid(*ends), -1).reshape(-1, 4), axis=0).astype(np.int32)


# ---- the cases of the design document ------------------------------------------------------------


def _geometry(name: str) -> Geometry:
    case = CASES[name]
    triples = {key: tuple(case[key]) for key in ("space", "kernel", "stride", "padding", "dilation")}
    geometry = Geometry(case["batch"], **triples, subm=case["subm"])
    assert list(geometry.out) == case["out"]
    return geometry


@functools.cache
def _case(name: str) -> tuple[Geometry, np.ndarray]:
    """Random distinct sites, the corners of the space among them."""
    geometry, rng = _geometry(name), np.random.default_rng(20)
    rows = np.concatenate([corner_rows(geometry), unique_rows(rng, geometry, CASES[name]["rows"])])
    _, first = np.unique(rows, axis=0, return_index=True)
    return geometry, np.ascontiguousarray(rows[np.sort(first)][: CASES[name]["rows"]])


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_the_cases_of_the_design_document(raw: Raw, name: str) -> None:
    geometry, indices = _case(name)
    assert indices.shape == (CASES[name]["rows"], 4)
    expected = vectorised(indices, geometry)
    result = call(indices, geometry)
    assert isinstance(result, pymluops.IndicePairs)
    assert_equal(result, expected)
    rows = (
        CASES[name]["out_rows"]
        if geometry.subm
        else min(27 * len(indices), geometry.batch * int(np.prod(geometry.out)))
    )
    assert_c_gives(raw, indices, geometry, expected, rows)


def test_case_b_with_as_many_output_rows_as_the_document_names(raw: Raw) -> None:
    geometry, spread = _case("B")
    rows = CASES["B"]["out_rows"]
    # Spread sites have far more outputs than the document's data: refused, with the number of rows
    # that are needed.
    desc, outputs = raw.sparse(geometry), Outputs.for_rows(len(spread), geometry, rows)
    needed = len(vectorised(spread, geometry).out_indices)
    assert needed > rows
    assert outputs.call(raw, desc, spread) == BAD_PARAM
    assert str(needed) in raw.reason()
    assert "out_indices" in raw.reason()
    assert raw.num_act_out(desc) == needed
    assert outputs.untouched()
    # Sites close together, as in a scan, fit.
    rng = np.random.default_rng(21)
    close = unique_rows(rng, dataclasses.replace(geometry, space=(11, 90, 90)), len(spread))
    expected = vectorised(close, geometry)
    assert len(expected.out_indices) <= rows
    assert_c_gives(raw, close, geometry, expected, rows)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("axis", range(4))
def test_rows_at_the_first_and_last_place_of_each_axis(name: str, axis: int) -> None:
    geometry = _geometry(name)
    rng = np.random.default_rng(axis)
    indices = unique_rows(rng, geometry, 400)
    sizes = (geometry.batch, *geometry.space)
    indices[:200, axis], indices[200:, axis] = 0, sizes[axis] - 1
    indices = np.unique(np.concatenate([indices, corner_rows(geometry)]), axis=0)
    assert_equal(call(indices, geometry), vectorised(indices, geometry))


@pytest.mark.parametrize("subm", [False, True])
def test_large_output_indices(raw: Raw, subm: bool) -> None:
    # 1290 cubed is just below 2**31 sites.
    geometry = Geometry(1, (1290, 1290, 1290), (3, 3, 3), padding=(1, 1, 1), subm=subm)
    near_the_end = np.array(
        [[0, d, h, w] for d in (0, 1288, 1289) for h in (0, 1289) for w in (1287, 1288, 1289)], np.int32
    )
    expected = by_rule(near_the_end, geometry)
    assert_equal(call(near_the_end, geometry), expected)
    assert_c_gives(raw, near_the_end, geometry, expected, 27 * len(near_the_end))


# ---- values --------------------------------------------------------------------------------------


def _triples(low: int, high: int) -> st.SearchStrategy[Triple]:
    return st.tuples(*[st.integers(low, high)] * 3)


@st.composite
def geometries(draw: st.DrawFn) -> Geometry:
    """Small convolutions of every accepted kind."""
    batch, space, kernel = draw(st.integers(1, 3)), draw(_triples(1, 6)), draw(_triples(1, 4))
    padding = draw(_triples(0, 3))
    if draw(st.booleans()):
        if draw(st.booleans()):  # the filter's middle on the output, as networks have it
            kernel = tuple(draw(st.sampled_from((1, 3, 5))) for _ in range(3))
            padding = tuple(size // 2 for size in kernel)
        return Geometry(batch, space, kernel, padding=padding, subm=True)
    stride, dilation = draw(_triples(1, 3)), draw(_triples(1, 3))
    assume(all(s == 1 or d == 1 for s, d in zip(stride, dilation, strict=True)))
    geometry = Geometry(batch, space, kernel, stride, padding, dilation)
    if draw(st.booleans()) or min(geometry.out) < 1:
        geometry = dataclasses.replace(geometry, given_out=draw(_triples(1, 9)))
    return geometry


#: Around the sites, so that the library takes each of its ways: a grid with all words, one with
#: those in use, sorting.
EMPTY_ROOM = [(0, 0, 0), (2, 60, 120), (0, 1500, 0)]


@examples(600)
@given(
    geometry=geometries(),
    rows=st.integers(0, 40),
    room=st.sampled_from(EMPTY_ROOM),
    seed=st.integers(0, 2**32 - 1),
)
def test_follows_the_rule(geometry: Geometry, rows: int, room: Triple, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sites = (geometry.batch, *geometry.space)
    # Drawn with replacement: repeated rows are part of the rule.
    indices = rng.integers(0, sites, (min(rows, int(np.prod(sites))), 4))
    space, out = (tuple(np.add(size, room).tolist()) for size in (geometry.space, geometry.out))
    geometry = dataclasses.replace(geometry, space=space, given_out=None if geometry.subm else out)
    indices[:, 1:] += rng.integers(0, np.add(room, 1))
    indices = indices.astype(np.int32)
    assert_equal(call(indices, geometry), by_rule(indices, geometry))


@examples(100)
@given(geometry=geometries(), rows=st.integers(1, 40), spare=st.integers(0, 5), seed=st.integers(0, 2**32 - 1))
def test_c_asks_for_exactly_the_rows_that_it_needs(geometry: Geometry, rows: int, spare: int, seed: int) -> None:
    sites = (geometry.batch, *geometry.space)
    rng = np.random.default_rng(seed)
    indices = rng.integers(0, sites, (min(rows, int(np.prod(sites))), 4)).astype(np.int32)
    expected = by_rule(indices, geometry)
    found, most = len(expected.out_indices), geometry.batch * int(np.prod(geometry.out))
    with Raw(pymluops.load("cpu")) as raw:
        if found:
            assert_c_gives(raw, indices, geometry, expected, min(found + spare, most))
        if found > 1:
            desc, outputs = raw.sparse(geometry), Outputs.for_rows(len(indices), geometry, found - 1)
            assert outputs.call(raw, desc, indices) == BAD_PARAM
            assert outputs.untouched()
            assert raw.num_act_out(desc) == found


@pytest.mark.parametrize("kernel", [(16, 16, 16), (1, 1, 300), (7, 5, 9), (17, 17, 17)])
def test_large_kernels(kernel: Triple) -> None:
    rng = np.random.default_rng(2)
    padding = tuple(k // 2 for k in kernel)
    geometry = Geometry(2, (9, 10, 11), kernel, padding=padding)
    indices = unique_rows(rng, geometry, 60)
    assert_equal(call(indices, geometry), vectorised(indices, geometry))
    subm = dataclasses.replace(geometry, subm=True)
    assert_equal(call(indices, subm), vectorised(indices, subm))


@pytest.mark.parametrize("subm", [False, True])
@pytest.mark.parametrize(
    "geometry",
    [
        Geometry(2, (2, 3, 100_000), (1, 2, 3), padding=(0, 0, 1)),
        Geometry(2, (2, 3, 100_000), (2, 1, 3), (1, 1, 2), (1, 0, 5)),
        Geometry(1, (100_000, 2, 40), (3, 1, 5), padding=(3, 0, 2), dilation=(3, 1, 1)),
        Geometry(1, (2, 100_000, 2), (1, 3, 2), (1, 5, 1), (0, 1, 0)),
    ],
    ids=str,
)
def test_spaces_long_in_one_direction(geometry: Geometry, subm: bool) -> None:
    if subm:
        geometry = Geometry(geometry.batch, geometry.space, geometry.kernel, padding=geometry.padding, subm=True)
    rng = np.random.default_rng(9)
    sites = (geometry.batch, *geometry.space)
    # Half of them in a heap, so that neighbours and repeated rows occur.
    near = rng.integers(0, np.minimum(sites, 60), (2000, 4))
    indices = np.concatenate([near, rng.integers(0, sites, (2000, 4))]).astype(np.int32)
    for rows in (indices, indices[np.lexsort(indices.T[::-1])]):
        assert_equal(call(np.ascontiguousarray(rows), geometry), vectorised(rows, geometry))


@pytest.mark.parametrize("stride", [7, 13, 14, 15, 26, 28, 30, 49, 98, 103])
def test_strides_are_divided_exactly(stride: int) -> None:
    # A reciprocal, of float32 or of float64, loses multiples of these strides; exact integers do
    # not.
    geometry = Geometry(1, (1, 1, 5000), (1, 1, 1), (1, 1, stride))
    indices = np.zeros((5000, 4), np.int32)
    indices[:, 3] = np.arange(5000)
    result = call(indices, geometry)
    assert len(result.out_indices) == (5000 - 1) // stride + 1
    assert_equal(result, vectorised(indices, geometry))


@pytest.mark.thorough
def test_more_than_a_million_rows() -> None:
    geometry = Geometry(1, (11, 400, 400), (1, 1, 3), (1, 1, 2), (0, 0, 1))
    indices = unique_rows(np.random.default_rng(3), geometry, 1_000_001)
    assert_equal(call(indices, geometry), vectorised(indices, geometry))


def test_the_lowest_of_equal_rows_wins_in_submanifold_mode() -> None:
    geometry = Geometry(1, (3, 3, 3), (3, 3, 3), padding=(1, 1, 1), subm=True)
    indices = np.array([[0, 1, 1, 1], [0, 1, 1, 2], [0, 1, 1, 1], [0, 1, 1, 2]], np.int32)
    result = call(indices, geometry)
    assert result.out_indices.tolist() == indices.tolist()
    centre = result.indice_pairs[13].tolist()
    assert centre == [[0, 1, 2, 3], [0, 1, 0, 1]]
    assert result.indice_num[13] == 4


@pytest.mark.parametrize("subm", [False, True])
def test_many_equal_rows_take_no_longer_than_others(subm: bool) -> None:
    geometry = Geometry(1, (60, 60, 60), (3, 3, 3), padding=(1, 1, 1), subm=subm)
    indices = np.full((100_000, 4), 30, np.int32)
    indices[:, 0] = 0
    start = time.process_time()
    result = call(indices, geometry)
    # Milliseconds; time that grows with the square of the rows would be tens of seconds.
    assert time.process_time() - start < 4
    assert_equal(result, vectorised(indices, geometry))


def test_every_candidate_valid_and_some_equal_loses_no_row() -> None:
    # Here the vendor's library drops the last output row.
    geometry = Geometry(1, (2, 1, 1), (2, 1, 1), padding=(1, 0, 0), given_out=(4, 1, 1))
    indices = np.array([[0, 0, 0, 0], [0, 1, 0, 0]], np.int32)
    assert_equal(call(indices, geometry), by_rule(indices, geometry))
    assert len(call(indices, geometry).out_indices) == 3


def test_nothing_valid_gives_no_rows(raw: Raw) -> None:
    geometry = Geometry(1, (4, 4, 4), (1, 1, 1), (4, 4, 4))
    indices = np.array([[0, 1, 1, 1], [0, 2, 2, 2]], np.int32)
    result = call(indices, geometry)
    assert result.out_indices.shape == (0, 4)
    assert (result.indice_pairs == -1).all()
    assert not result.indice_num.any()
    # num_act_out of an earlier call does not stay.
    desc, earlier = raw.sparse(geometry), np.zeros((1, 4), np.int32)
    assert Outputs.for_rows(1, geometry, 1).call(raw, desc, earlier) == SUCCESS
    assert raw.num_act_out(desc) == 1
    outputs = Outputs.for_rows(2, geometry, 1)
    assert outputs.call(raw, desc, indices) == SUCCESS
    assert raw.num_act_out(desc) == 0
    assert is_canary(outputs.out)
    assert (outputs.pairs == -1).all()
    assert not outputs.num.any()


@pytest.mark.parametrize("subm", [False, True])
def test_no_rows_at_all(raw: Raw, subm: bool) -> None:
    geometry = Geometry(1, (4, 4, 4), (3, 3, 3), padding=(1, 1, 1), subm=subm)
    result = call(np.empty((0, 4), np.int32), geometry)
    assert result.out_indices.shape == (0, 4)
    assert result.indice_pairs.shape == (27, 2, 0)
    assert result.indice_num.tolist() == [0] * 27
    assert all(array.dtype == np.int32 for array in result)
    desc, outputs = raw.sparse(geometry), Outputs.for_rows(0, geometry, 5)
    assert outputs.call(raw, desc, np.empty((0, 4), np.int32)) == SUCCESS
    assert raw.num_act_out(desc) == 0
    assert outputs.untouched()


def test_numbers_stand_for_three_equal_ones() -> None:
    indices = unique_rows(np.random.default_rng(4), SMALL, 30)
    spelt = call(indices, SMALL)
    short = pymluops.get_indice_pairs(
        indices, batch_size=2, spatial_shape=(4, 5, 6), kernel_size=3, stride=2, padding=1, dilation=1
    )
    assert_equal(short, spelt)
    assert_equal(
        call(indices, SMALL, spatial_shape=[4, 5, 6], kernel_size=np.array([3, 3, 3]), stride=np.int64(2)), spelt
    )


def test_the_result_is_a_named_tuple() -> None:
    result = call(np.zeros((1, 4), np.int32), SMALL)
    assert result._fields == ("out_indices", "indice_pairs", "indice_num")
    out_indices, indice_pairs, indice_num = result
    assert indice_pairs.shape == (27, 2, 1)
    assert indice_num.shape == (27,)
    assert out_indices.shape[1] == 4


INT_MAX = 2**31 - 1
FAR = [
    Geometry(1, (4, 4, 4), (1, 1, 1), padding=(INT_MAX, 0, 0), given_out=(4, 4, 4)),
    Geometry(1, (4, 4, 4), (3, 1, 1), padding=(INT_MAX, 0, 0), dilation=(INT_MAX, 1, 1), given_out=(4, 4, 4)),
    Geometry(1, (4, 4, 4), (3, 1, 1), dilation=(INT_MAX, 1, 1), given_out=(4, 4, 4)),
    Geometry(1, (4, 4, 4), (2, 2, 2), (INT_MAX,) * 3, (INT_MAX,) * 3, given_out=(4, 4, 4)),
    Geometry(1, (INT_MAX, 1, 1), (3, 1, 1), padding=(1, 0, 0)),
    Geometry(2, (INT_MAX, 1, 1), (3, 1, 1), padding=(1, 0, 0), subm=True),
    Geometry(2, (1, INT_MAX, 1), (1, 3, 1), padding=(0, 1, 0)),
    Geometry(2, (1, 1, INT_MAX), (1, 1, 3), padding=(0, 0, 1)),
    Geometry(2, (1, 1, INT_MAX), (1, 1, 3), (1, 1, 2), (0, 0, 1)),
    Geometry(4, (1290, 1290, 1290), (3, 3, 3), padding=(1, 1, 1)),
    Geometry(1, (4, 4, 4), (1, 1, 1), given_out=(65536, 65536, 1)),
]


@pytest.mark.parametrize("geometry", FAR, ids=str)
def test_numbers_as_large_as_they_go(geometry: Geometry) -> None:
    near, end = np.zeros(4, np.int32), [geometry.batch - 1, *(size - 1 for size in geometry.space)]
    indices = np.array([near, end, [0, *end[1:]]], np.int32)
    assert_equal(call(indices, geometry), by_rule(indices, geometry))


@pytest.mark.parametrize("subm", [False, True])
@pytest.mark.parametrize("padding", [(1, 0, 1), (0, 0, 2)])
@pytest.mark.parametrize("rows", [2, 4, 5, 12, 40, 200])
def test_many_rows_in_a_space_of_nearly_all_numbers(subm: bool, padding: Triple, rows: int) -> None:
    # The number of a site takes 62 bits, so that it does not share a word with the number of a row.
    space = (INT_MAX, 1, INT_MAX)
    geometry = Geometry(1, space, (3, 1, 3), padding=padding, subm=subm, given_out=space)
    rng = np.random.default_rng(10)
    indices = np.zeros((rows, 4), np.int32)
    for axis in (1, 3):
        indices[:, axis] = rng.choice([0, 2**30, INT_MAX - 4], rows) + rng.integers(0, 4, rows)
    assert_equal(call(indices, geometry), by_rule(indices, geometry))


@pytest.mark.parametrize("subm", [False, True])
def test_spaces_too_large_to_count_are_refused(subm: bool) -> None:
    geometry = Geometry(1, (INT_MAX,) * 3, (1, 1, 1), subm=subm)
    with pytest.raises(pymluops.MluOpError):
        call(np.zeros((1, 4), np.int32), geometry)


@pytest.mark.parametrize("kernel", [(INT_MAX, 1, 1), (65536, 65536, 1), (INT_MAX,) * 3])
def test_kernels_too_large_to_count_are_refused(kernel: Triple) -> None:
    # Before anything of that size is allocated.
    with pytest.raises(pymluops.MluOpError):
        call(np.zeros((2, 4), np.int32), Geometry(1, (4, 4, 4), kernel, given_out=(4, 4, 4)))


def _dense_convolution(dense: np.ndarray, filters: np.ndarray, geometry: Geometry) -> np.ndarray:
    """Plain convolution, without a flip, of dense [batch, d, h, w] with filters [kd, kh, kw], from its definition."""
    g = geometry
    result = np.zeros((g.batch, *g.out))
    for place in itertools.product(*map(range, g.out)):
        for cell in itertools.product(*map(range, g.kernel)):
            site = [o * s - p + k * d for o, s, p, k, d in zip(place, g.stride, g.padding, cell, g.dilation)]
            if all(0 <= i < size for i, size in zip(site, g.space)):
                result[(slice(None), *place)] += dense[(slice(None), *site)] * filters[cell]
    return result


GEOMETRIES = [
    Geometry(2, (4, 5, 6), (3, 3, 3), (2, 2, 2), (1, 1, 1)),
    Geometry(1, (5, 4, 3), (2, 3, 1), (1, 2, 1), (0, 1, 2)),
    Geometry(2, (6, 5, 4), (3, 2, 2), padding=(2, 1, 0), dilation=(2, 1, 3)),
    Geometry(2, (4, 4, 4), (3, 3, 3), padding=(1, 1, 1), subm=True),
    Geometry(1, (4, 4, 4), (3, 3, 3), padding=(1, 1, 1), given_out=(7, 2, 5)),
]


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_pairs_give_the_dense_convolution(geometry: Geometry) -> None:
    rng = np.random.default_rng(5)
    occupied = rng.random((geometry.batch, *geometry.space)) < 0.2
    indices = np.argwhere(occupied).astype(np.int32)
    rng.shuffle(indices)
    values, filters = rng.integers(1, 9, len(indices)), rng.integers(1, 9, geometry.kernel)
    dense = np.zeros(occupied.shape)
    dense[tuple(indices.T)] = values
    expected = _dense_convolution(dense, filters, geometry)

    out_indices, pairs, counts = get_indice_pairs.by_rule(indices, geometry)
    sums = np.zeros(len(out_indices))
    for k, weight in enumerate(filters.reshape(-1)):
        np.add.at(sums, pairs[k, 1, : counts[k]], values[pairs[k, 0, : counts[k]]] * weight)
    got = np.zeros(expected.shape)
    got[tuple(out_indices.T)] = sums
    if geometry.subm:
        expected[~occupied] = 0
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize("rows", [0, 1, 40])
def test_both_ways_to_find_pairs_agree(geometry: Geometry, rows: int) -> None:
    rng = np.random.default_rng(rows)
    # Duplicate rows occur: more rows than sites along each axis.
    indices = rng.integers(0, (geometry.batch, *geometry.space), (rows, 4)).astype(np.int32)
    for one, other in zip(get_indice_pairs.by_rule(indices, geometry), get_indice_pairs.vectorised(indices, geometry)):
        np.testing.assert_array_equal(one, other)


def test_output_rows_of_a_tiny_convolution_by_hand() -> None:
    # One point at (0, 1, 1) in a 2x2 plane, 2x2 kernel, no padding: a single output, reached
    # through the last cell.
    geometry = Geometry(1, (1, 2, 2), (1, 2, 2))
    out_indices, pairs, counts = get_indice_pairs.by_rule(np.array([[0, 0, 1, 1]], np.int32), geometry)
    assert out_indices.tolist() == [[0, 0, 0, 0]]
    assert counts.tolist() == [0, 0, 0, 1]
    assert pairs[:, :, 0].tolist() == [[-1, -1], [-1, -1], [-1, -1], [0, 0]]
    assert math.prod(geometry.kernel) == geometry.cells


@pytest.mark.parametrize(
    ("name", "contract"),
    [
        (
            "get_indice_pairs",
            "(indices, *, batch_size, spatial_shape, kernel_size, stride=1, padding=0, dilation=1, "
            "subm=False, out_spatial_shape=None, validate=True, handle=None)",
        ),
    ],
)
def test_signatures_keep_the_contract(name: str, contract: str) -> None:
    assert_signature(name, contract)
