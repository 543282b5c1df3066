"""The cases, their arrays and the bytes they count."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bench.small import built, small_cases
from benchmarks import coordinates
from benchmarks.cases import FAMILIES, GROUPS, Case, dtypes, load_cases, operators, select
from benchmarks.families import build, same_kernel, sized
from support import families
from support.example import CHOOSING, MOVING, MOVING_BACK, PAIRING


def test_ids_are_distinct_and_groups_are_known() -> None:
    cases = load_cases()
    assert len({case.id for case in cases}) == len(cases) > 100
    assert {case.group for case in cases} == set(GROUPS)
    shared = {name for family in FAMILIES for name in same_kernel(family)}
    assert {case.operator for case in cases} == set(families.OPERATORS) - shared
    assert set(FAMILIES) == set(families.FAMILIES)


def test_patterns_select_by_a_part_or_by_wildcards() -> None:
    cases = load_cases()
    assert {case.family for case in select(cases, [CHOOSING.family], GROUPS)} == {CHOOSING.family}
    assert {case.operator for case in select(cases, [f"{MOVING.family}_*/f16"], GROUPS)} == {
        MOVING.name, MOVING_BACK.name,
    }  # fmt: skip
    assert all(case.group == "limits" for case in select(cases, [], ["limits"]))
    assert select(cases, ["nothing like it"], GROUPS) == []


@pytest.mark.parametrize("case", small_cases(), ids=lambda case: f"{case.id}-{case.parameters.get('mode', '')}")
def test_a_problem_is_the_same_each_time_and_counts_no_more_than_it_has(case: Case) -> None:
    problem, again = build(case), build(case)
    for name, array in problem.inputs.items():
        np.testing.assert_array_equal(array, again.inputs[name])
    result = problem.run(problem.buffers())
    problem.check(result, again.run(again.buffers()))
    given = sum(array.nbytes for array in problem.inputs.values())
    assert 0 < problem.bytes_read <= given or not problem.inputs
    assert problem.bytes_written == sum(array.nbytes for array in result.values())


@pytest.mark.parametrize("family", FAMILIES)
def test_sizes_grow_as_asked(family: str) -> None:
    for elements in (10**3, 10**4, 10**5):
        for facts in sized(family, elements).values():
            problem = built(family, operators(family)[0], dtypes(family)[0], **facts)
            result = problem.run(problem.buffers())
            found = sum(array.size for array in (*problem.inputs.values(), *result.values()))
            assert elements / 3 < found < 3 * elements


def test_uniform_sites_are_distinct_and_in_range() -> None:
    rng = np.random.default_rng(3)
    sites = coordinates.uniform_sites(700, 3, (5, 7, 8), rng)
    assert sites.dtype == np.int32
    assert len(np.unique(sites, axis=0)) == 700
    assert (sites >= 0).all()
    assert (sites < (3, 5, 7, 8)).all()
    assert (np.diff(sites[:, 0]) >= 0).all()
    everything = coordinates.uniform_sites(3 * 280, 3, (5, 7, 8), rng)
    assert len(np.unique(everything, axis=0)) == 840
    with pytest.raises(ValueError, match="do not fit"):
        coordinates.uniform_sites(841, 3, (5, 7, 8), rng)


@pytest.mark.parametrize(("make", "space"), [(coordinates.lidar_sites, (21, 300, 300)),
                                             (coordinates.strided_lidar_sites, (6, 90, 90))])  # fmt: skip
def test_scanned_sites_are_distinct_in_range_and_near_one_another(make, space) -> None:
    sites = make(4001, 2, space)
    assert len(np.unique(sites, axis=0)) == len(sites) == 4001
    assert (sites >= 0).all()
    assert (sites < (2, *space)).all()
    assert np.bincount(sites[:, 0]).tolist() == [2001, 2000]
    np.testing.assert_array_equal(sites, make(4001, 2, space))
    occupied = {tuple(site) for site in sites.tolist()}
    beside = sum((n, d, h, w + 1) in occupied for n, d, h, w in occupied)
    assert beside > len(sites) / 20  # of evenly drawn sites it would be one in a hundred at most


def test_strided_sites_are_what_two_layers_leave() -> None:
    fine, middle, coarse = (9, 16, 16), (5, 8, 8), (3, 4, 4)
    cells = np.unique(np.random.default_rng(0).integers(0, np.prod(fine), 12))
    grid, again = np.zeros(middle, bool), np.zeros(coarse, bool)
    coordinates._mark(grid, np.unravel_index(cells, fine))
    coordinates._mark(again, np.nonzero(grid))
    sites = np.stack([np.zeros_like(cells), *np.unravel_index(cells, fine)], 1).astype(np.int32)
    for space in (fine, middle):
        sites = PAIRING.run(sites, batch_size=1, spatial_shape=space, kernel_size=3, stride=2, padding=1).out_indices
    assert sites[:, 1:].tolist() == np.argwhere(again).tolist()


def test_problem_lists_are_plain_json() -> None:
    import importlib.resources

    for family in FAMILIES:
        text = (importlib.resources.files("benchmarks") / "problems" / f"{family}.json").read_text()
        assert json.loads(text)["family"] == family
