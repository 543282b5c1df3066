"""The cases, their arrays and the bytes they count."""

from __future__ import annotations

import json

import numpy as np
import pytest

import families
from bench.small import small_cases
from benchmarks import coordinates
from benchmarks.cases import FAMILIES, GROUPS, Case, dtypes, load_cases, operators, select
from benchmarks.families import build, sized


def built(family: str, operator: str, dtype: str = "float32", **facts: object):
    return build(Case("x", family, operator, "x", "small", dtype, facts))


def test_ids_are_distinct_and_groups_are_known() -> None:
    cases = load_cases()
    assert len({case.id for case in cases}) == len(cases) > 100
    assert {case.group for case in cases} == set(GROUPS)
    assert {case.operator for case in cases} == set(families.OPERATORS)
    assert set(FAMILIES) == set(families.FAMILIES)


def test_limits_are_those_that_were_set() -> None:
    limits = {case.id: case.limits for case in load_cases() if case.limits}
    assert limits["tin_shift_forward/3x15x16x45435/f16"] == {"memcpy": 1.05}
    assert limits["tin_shift_backward/2x8x64x3136/f32"] == {"memcpy": 1.1}
    assert limits["tin_shift_backward/2x8x64x3136/f16"] == {"memcpy": 1.3}
    assert limits["psamask_forward/1x59x59-mask117/collect/f32"] == {"memcpy": 1.3}
    assert limits["psamask_backward/8x16x16-mask31/distribute/f32"] == {"memcpy": 3}
    assert limits["three_interpolate_backward/16x1024x4096-128/f32"] == {"memcpy": 1.8}
    assert "three_interpolate_backward/16x1024x4096-128/f16" not in limits
    assert limits["border_align_forward/2x950x4x256-pool10/f32"] == {"peer": 0.25}
    assert limits["get_indice_pairs/strided-149100/lidar"] == {"memcpy": 8, "peer": 0.3}


def test_the_shapes_of_the_interpolation_document_are_all_there() -> None:
    ours = {
        tuple(case.parameters[name] for name in ("batch", "channels", "points", "features"))
        for case in load_cases(["three_interpolate"])
    }
    assert {(16, 512, 64, 16), (16, 1, 128, 1024), (1, 1, 1, 1), (25, 1029, 1025, 1027), (29, 2047, 999, 2033)} <= ours
    assert len(ours) == 15


def test_patterns_select_by_a_part_or_by_wildcards() -> None:
    cases = load_cases()
    assert {case.family for case in select(cases, ["psamask"], GROUPS)} == {"psamask"}
    assert {case.operator for case in select(cases, ["tin_shift_*/f16"], GROUPS)} == {
        "tin_shift_forward", "tin_shift_backward",
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
    assert 0 < problem.bytes_read <= sum(array.nbytes for array in problem.inputs.values())
    assert problem.bytes_written == sum(array.nbytes for array in result.values())


def test_frames_that_are_shifted_out_are_not_counted() -> None:
    problem = built("tin_shift", "tin_shift_forward", shape=[1, 6, 6, 5], groups=3, shifts=[-1, 0, 9])
    assert problem.bytes_read == (5 + 6 + 0) * 2 * 5 * 4 + 3 * 4


@pytest.mark.parametrize("mask", [1, 2, 3, 5, 6, 9, 12])
def test_mask_cells_on_the_map_are_counted(mask: int) -> None:
    problem = built("psamask", "psamask_forward", shape=[1, 4, 3], mask=mask, mode="collect")
    problem.inputs["x"].fill(1)
    values = problem.run(problem.buffers())["out"]
    assert problem.bytes_read == 4 * np.count_nonzero(values)


def test_columns_that_no_point_names_are_not_counted() -> None:
    problem = built("three_interpolate", "three_interpolate_forward", batch=1, channels=4, points=2, features=500)
    named = len(np.unique(problem.inputs["indices"]))
    assert named <= 6
    assert problem.bytes_read == named * 4 * 4 + 2 * 2 * 3 * 4


def test_pixels_that_no_sample_needs_are_not_counted() -> None:
    """A pixel counts for a border if the result changes with it."""
    problem = built("border_align", "border_align_forward", batch=1, size=[6, 7], channels=1, boxes=2, pool=3)
    features, boxes = problem.inputs["input"], problem.inputs["boxes"]
    features.fill(0)
    touched = 0
    for place in np.ndindex(features.shape):
        features[place] = 1.0
        touched += bool(problem.run(problem.buffers())["out"].any())
        features[place] = 0.0
    assert problem.bytes_read == touched * 4 + boxes.nbytes


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
    import pymluops

    fine, middle, coarse = (9, 16, 16), (5, 8, 8), (3, 4, 4)
    cells = np.unique(np.random.default_rng(0).integers(0, np.prod(fine), 12))
    grid, again = np.zeros(middle, bool), np.zeros(coarse, bool)
    coordinates._mark(grid, np.unravel_index(cells, fine))
    coordinates._mark(again, np.nonzero(grid))
    sites = np.stack([np.zeros_like(cells), *np.unravel_index(cells, fine)], 1).astype(np.int32)
    for space in (fine, middle):
        sites = pymluops.get_indice_pairs(
            sites, batch_size=1, spatial_shape=space, kernel_size=3, stride=2, padding=1
        ).out_indices
    assert sites[:, 1:].tolist() == np.argwhere(again).tolist()


def test_problem_lists_are_plain_json() -> None:
    import importlib.resources

    for family in FAMILIES:
        text = (importlib.resources.files("benchmarks") / "problems" / f"{family}.json").read_text()
        assert json.loads(text)["family"] == family
