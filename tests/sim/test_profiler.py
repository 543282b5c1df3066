"""Profiles of this package's operators: theory by the acceptance standard, figures of cards, and refusals."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops import sim
from pymluops.sim import toolchain
from pymluops.sim.profiler import TimeModel, _figures
from support.example import MOVING

I32 = np.int32
rng = np.random.default_rng(7)


@pytest.fixture(autouse=True)
def _simulator(nothing_leaks: None) -> Iterator[None]:
    with pymluops.use("sim"):
        yield


def move(dtype: Any = np.float32) -> None:
    MOVING.run(rng.random((2, 4, 8, 5)).astype(dtype), rng.integers(-2, 3, (2, 4), dtype=I32))


def test_half_counts_with_twice_the_peak() -> None:
    with sim.profiling() as profile:
        move(np.float16)
        move()
    half, single = profile.launches
    assert half.theory.half
    assert not single.theory.half
    assert half.peak_operations_per_ns == 2 * single.peak_operations_per_ns


def test_arrays_on_the_device_are_profiled_too() -> None:
    frames = pymluops.DeviceArray.from_host(rng.random((2, 4, 8, 5)).astype(np.float16))
    shifts = pymluops.DeviceArray.from_host(np.zeros((2, 4), I32))
    with pymluops.Queue() as queue, pymluops.Handle(queue=queue) as handle, sim.profiling() as profile:
        MOVING.run(frames, shifts, handle=handle)
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
        move()
    with sim.profiling() as fast:
        move()
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
        move()
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
