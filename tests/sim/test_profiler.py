"""Profiles of this package's operators: theory by the acceptance standard, figures of cards, and refusals."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops import sim
from pymluops.sim import toolchain
from pymluops.sim.profiler import TimeModel, _figures

F32, I32 = np.float32, np.int32
rng = np.random.default_rng(7)


@pytest.fixture(autouse=True)
def _simulator(nothing_leaks: None) -> Iterator[None]:
    with pymluops.use("sim"):
        yield


def borders(dtype: Any = F32) -> tuple[Any, ...]:
    """Arguments of border_align_forward: 2 images, 3 boxes, 8 channels for each border."""
    corners = rng.random((2, 3, 2)) * 4
    boxes = np.concatenate([corners, corners + 3], axis=2).astype(dtype)
    return rng.random((2, 10, 12, 32)).astype(dtype), boxes, 4


def neighbours() -> tuple[Any, ...]:
    indices = rng.integers(0, 20, (2, 50, 3)).astype(I32)
    return indices, rng.random((2, 50, 3)).astype(F32)


def bytes_of(*arrays: Any) -> int:
    return sum(array.nbytes for array in arrays)


def tin_shift(dtype: Any = F32) -> tuple[Any, Any]:
    frames = rng.random((2, 4, 8, 5)).astype(dtype)
    shifts = rng.integers(-2, 3, (2, 4)).astype(I32)
    out = pymluops.tin_shift_forward(frames, shifts)
    return (2 * frames.nbytes + shifts.nbytes, 320), out


def psamask() -> tuple[Any, Any]:
    x = rng.random((1, 6, 7, 9)).astype(F32)
    y = pymluops.psamask_forward(x, "collect", (3, 3))
    return (bytes_of(x, y), y.size), y


def border_align_forward() -> tuple[Any, Any]:
    features, boxes, pool = borders()
    out, places = pymluops.border_align_forward(features, boxes, pool)
    return (bytes_of(features, boxes, out, places), 2 * 3 * 4 * 8 * 14), out


def border_align_backward() -> tuple[Any, Any]:
    features, boxes, pool = borders()
    out, places = pymluops.border_align_forward(features, boxes, pool)
    with sim.profiling() as profile:
        grad = pymluops.border_align_backward(np.ones_like(out), boxes, places, pool, (10, 12))
    return (bytes_of(out, boxes, places, grad), 2 * 3 * 4 * (8 // 4) * 3), profile


def interpolation() -> tuple[Any, Any]:
    indices, weights = neighbours()
    features = rng.random((2, 6, 20)).astype(F32)
    out = pymluops.three_interpolate_forward(features, indices, weights)
    return (bytes_of(features, indices, weights, out), 5 * 2 * 6 * 50), out


def interpolation_backward() -> tuple[Any, Any]:
    indices, weights = neighbours()
    grad = rng.random((2, 6, 50)).astype(F32)
    out = pymluops.three_interpolate_backward(grad, indices, weights, 20)
    return (bytes_of(grad, indices, weights, out), 9 * 2 * 6 * 50), out


def pairs(*, subm: bool) -> tuple[Any, Any]:
    cells = rng.permutation(5 * 6 * 7)[:40]
    indices = np.stack([np.zeros(40, int), *np.unravel_index(cells, (5, 6, 7))], axis=1).astype(I32)
    padding = 1 if subm else 0
    found = pymluops.get_indice_pairs(
        indices, batch_size=1, spatial_shape=(5, 6, 7), kernel_size=3, padding=padding, subm=subm
    )
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
    return (4 * moved, operations), found


CALLS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "mluOpTinShiftForward": tin_shift,
    "mluOpPsamaskForward": psamask,
    "mluOpBorderAlignForward": border_align_forward,
    "mluOpBorderAlignBackward": border_align_backward,
    "mluOpThreeInterpolateForward": interpolation,
    "mluOpThreeInterpolateBackward": interpolation_backward,
    "mluOpGetIndicePairs": lambda: pairs(subm=False),
}


@pytest.mark.parametrize("function", CALLS)
def test_theory_is_that_of_the_acceptance_standard(function: str) -> None:
    if function == "mluOpBorderAlignBackward":
        (io, operations), profile = CALLS[function]()
    else:
        with sim.profiling() as profile:
            (io, operations), _ = CALLS[function]()
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


def test_submanifold_pairs_have_a_theory_of_their_own() -> None:
    with sim.profiling() as profile:
        (io, operations), _ = pairs(subm=True)
    assert {(launch.theory.io_bytes, launch.theory.operations) for launch in profile.launches} == {(io, operations)}


def test_half_counts_with_twice_the_peak() -> None:
    with sim.profiling() as profile:
        tin_shift(np.float16)
        tin_shift(F32)
    half, single = profile.launches
    assert half.theory.half
    assert not single.theory.half
    assert half.peak_operations_per_ns == 2 * single.peak_operations_per_ns


def test_arrays_on_the_device_are_profiled_too() -> None:
    frames = pymluops.DeviceArray.from_host(rng.random((2, 4, 8, 5)).astype(np.float16))
    shifts = pymluops.DeviceArray.from_host(np.zeros((2, 4), I32))
    with pymluops.Queue() as queue, pymluops.Handle(queue=queue) as handle, sim.profiling() as profile:
        pymluops.tin_shift_forward(frames, shifts, handle=handle)
        (launch,) = profile.launches
    assert launch.theory == (2 * 640 + 32, 320, True, "acceptance standard")


def test_every_figure_of_every_card_has_a_value_and_a_source() -> None:
    for model in sim.devices():
        figures, sources = _figures.figures_of(model)
        assert all(value > 0 for value in figures.__dict__.values())
        assert list(sources) == list(figures.__dict__)
        assert set(sources.values()) <= {"standard", "guide", "guess"}
        assert (figures.clock_mhz, figures.bandwidth_gb_s) == (model.clock_mhz, model.bandwidth_gb_s)


def test_the_file_of_cards_names_no_figure_that_the_model_lacks() -> None:
    times = tomllib.loads(toolchain.CARDS_FILE.read_text(encoding="utf-8"))["time"]
    assert set(times) == {"all", *(card["name"] for card in toolchain.cards())}
    for figures in times.values():
        assert set(figures) <= set(_figures.NAMES)


def test_the_model_in_python_is_that_of_the_library() -> None:
    ffi = pymluops.load("sim").ffi
    declared = [name for name, _ in ffi.typeof("mlusimTimeModel").fields]
    assert declared == list(TimeModel.__dataclass_fields__)


def test_given_figures_are_used_and_named_as_given() -> None:
    with sim.profiling(figures={"off_chip_latency_ns": 5000}) as slow:
        tin_shift()
    with sim.profiling() as fast:
        tin_shift()
    assert slow.estimate_ns > fast.estimate_ns + 4000
    assert slow.sources["off_chip_latency_ns"] == "given"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"figures": {"clock": 1}}, "figures: expected names out of clock_mhz, .*, got 'clock'"),
        ({"figures": {"clock_mhz": 0}}, "figures: clock_mhz: expected a number greater than 0, got 0"),
        ({"figures": {"clock_mhz": math.nan}}, "figures: clock_mhz: expected a number greater than 0, got nan"),
        ({"figures": {"clock_mhz": "1"}}, "figures: clock_mhz: expected a number greater than 0, got '1'"),
        ({"most_events": -1}, "most_events: expected an integer from 0 to 2\\*\\*40, got -1"),
        ({"most_events": 1.5}, "most_events: expected an integer from 0 to 2\\*\\*40, got 1.5"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(pymluops.BadParamError, match=message), sim.profiling(**options):
        pass


def test_there_is_one_profile_at_a_time() -> None:
    with sim.profiling(), pytest.raises(pymluops.BadParamError, match="another profile runs"), sim.profiling():
        pass
    with sim.profiling() as profile:
        tin_shift()
    assert len(profile.launches) == 1


def test_a_profile_without_launches_can_be_shown() -> None:
    with sim.profiling() as profile:
        pass
    assert (profile.estimate_ns, profile.launches) == (0, ())
    assert str(profile) == "no launches\n"
    assert '"launches":[]' in profile.to_html()


def test_the_library_refuses_what_is_no_profile() -> None:
    backend = pymluops.load("sim")
    lib, ffi = backend.lib, backend.ffi
    assert lib.mlusimStartProfile(ffi.NULL, 10) == 0
    assert lib.mlusimStartProfile(ffi.new("mlusimTimeModel *"), 10) == 0
    assert lib.mlusimStopProfile(0) == -1
    assert lib.mlusimFreeProfile(10**9) == -1
    assert lib.mlusimGetProfileLaunch(10**9, 0, ffi.new("mlusimProfileLaunch *")) == -1
    assert lib.mlusimGetProfileLaunch(1, 0, ffi.NULL) == -1
    for what in ("Sites", "Tallies", "Cores", "Events", "Arrays"):
        assert getattr(lib, f"mlusimGetProfile{what}")(10**9, 0, 0, 1, ffi.NULL) == -1
    assert lib.mlusimGetArray(0, ffi.NULL) == -1
    assert lib.mlusimGetArray(2**40, ffi.new("mlusimArray *")) == -1
