"""Profiles of kernels that are compiled here: counts and estimates against what the model says by hand."""

from __future__ import annotations

import json
import math
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops import bang, sim
from pymluops.oracle import time_model
from support.selection import examples

SOURCE = Path(__file__).with_name("profiled.mlu")
N = 4096
#: Figures that make estimates easy to compute by hand: one cycle is one ns.
FIGURES = {
    "clock_mhz": 1000,
    "bandwidth_gb_s": 60,
    "cluster_bandwidth_gb_s": 50,
    "off_chip_latency_ns": 100,
    "on_chip_latency_cycles": 7,
    "on_chip_bytes_per_cycle": 64,
    "vector_bytes_per_cycle": 128,
    "vector_startup_cycles": 20,
    "function_passes": 5,
    "scalar_on_chip_cycles": 3,
    "scalar_off_chip_ns": 200,
    "issue_cycles": 2,
    "barrier_cycles": 40,
}


@pytest.fixture(scope="module")
def module() -> bang.Module:
    return bang.compile(SOURCE, arch="MLU370-X8")


def profile_of(module: bang.Module, kernel: str, launch: Any, *arguments: Any, **options: Any) -> sim.LaunchProfile:
    with sim.profiling(figures=FIGURES, **options) as profile:
        module.kernel(kernel)[launch](*arguments)
    (found,) = profile.launches
    return found


def floats(count: int = N) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.ones(count, np.float32)


# ---- Efficiency ----

PRODUCTS = """
__nram__ half rows[256 * 128], sums[64];
__nram__ float products[256 * 64];
__wram__ half filter[64 * 128];
__mlu_entry__ void products_of(int times, int sums_too) {
  __bang_write_value(rows, 256 * 128, (half)1);
  __memcpy(filter, rows, 64 * 128 * sizeof(half), NRAM2WRAM);
  for (int i = 0; i < times; ++i) __bang_matmul(products, rows, filter, 256, 128, 64);
  for (int i = 0; i < sums_too; ++i) __bang_add(sums, rows, rows, 64);
}
"""


def test_a_kernel_is_measured_against_the_peak_of_the_unit_that_works() -> None:
    module = bang.compile(PRODUCTS, arch="MLU590")
    launch = profile_of(module, "products_of", 1, 50, 0)
    cores = launch.clusters * launch.cores_per_cluster
    assert launch.units == "tensor units"
    assert launch.peak_operations_per_ns == pytest.approx(launch.model.matrix_half_operations * cores)
    # One core of all works, and does nearly nothing else.
    assert 0.5 / cores < launch.compute_efficiency <= 1 / cores
    mixed = profile_of(module, "products_of", 1, 1, 500)
    assert mixed.units == "vector and tensor units"
    assert 64 * cores < mixed.peak_operations_per_ns < launch.peak_operations_per_ns
    assert mixed.compute_efficiency <= 1 / cores


def test_a_launch_that_is_hardly_modelled_says_so_first(tmp_path: Path) -> None:
    module = bang.compile(PRODUCTS, arch="MLU590")
    with sim.profiling(most_events=10) as profile:
        module.kernel("products_of")[1](50, 50)
    second = str(profile).splitlines()[1]
    assert second.startswith(f"  NOTE            only {profile.launches[0].modelled_share:.0%} of the instructions are")
    assert second.endswith("raise most_events (--most-events)")
    with sim.profiling() as profile:
        module.kernel("products_of")[1](50, 50)
    assert "NOTE" not in str(profile)
    assert "of the vector and tensor units" in str(profile)


# ---- Counts ----


def lines_read(begin: int, size: int) -> set[int]:
    return {address // 64 for address in range(begin, begin + size)}


@examples(30)
@given(size=st.integers(1, 200), gap=st.integers(0, 300), pieces=st.integers(1, 40), offset=st.integers(0, 130))
def test_bytes_pieces_and_lines_are_counted(module: bang.Module, size: int, gap: int, pieces: int, offset: int) -> None:
    x = np.zeros(offset + pieces * (size + gap), np.int8)
    out = np.zeros(size * pieces, np.int8)
    launch = profile_of(module, "strided", 1, out, x, size, size + gap, pieces, offset)
    loads, stores = launch.directions["GDRAM2NRAM"], launch.directions["NRAM2GDRAM"]
    assert (loads.copies, loads.pieces, loads.bytes) == (1, pieces, size * pieces)
    assert (stores.copies, stores.pieces, stores.bytes) == (1, 1, size * pieces)
    # Allocations begin at multiples of 64; pieces that touch are one.
    starts = [offset + i * (size + gap) for i in range(pieces)]
    moved = [(offset, size * pieces)] if gap == 0 else [(start, size) for start in starts]
    assert loads.charged_bytes == 64 * sum(len(lines_read(*piece)) for piece in moved)
    partly = 1 if size * pieces % 64 else 0
    assert stores.charged_bytes == 64 * (math.ceil(size * pieces / 64) + partly)
    assert launch.argument_bytes == x.nbytes + out.nbytes


def test_instructions_elements_and_operations_are_counted(module: bang.Module) -> None:
    launch = profile_of(module, "compute", 3, 100)
    add, root, zero = (launch.intrinsics[f"__bang_{name}"] for name in ("add", "active_sqrt", "write_zero"))
    assert (add.calls, add.elements, add.operations) == (6, 600, 600)
    assert (root.calls, root.elements, root.operations) == (3, 300, 300)
    assert (zero.calls, zero.elements, zero.operations) == (3, 3 * N, 0)
    assert launch.modelled_share == 1
    assert sum(core.runs for core in launch.cores) == launch.cores_used == 3


def test_a_pool_does_an_operation_for_each_element_of_its_windows(module: bang.Module) -> None:
    channels, windows = 16, 2 * 2  # rows of height 4, windows of 2 every 2; columns of width 6, windows of 3 every 3
    launch = profile_of(module, "pool", 1, channels)
    assert launch.intrinsics["__bang_maxpool"].operations == channels * windows * 2 * 3
    assert launch.intrinsics["__bang_maxpool"].elements == channels * 4 * 6


def test_a_matrix_product_counts_additions_and_multiplications(module: bang.Module) -> None:
    launch = profile_of(module, "product", 1, np.zeros((64, 64), np.float16), 24)
    operations = 2 * 24 * 64 * 64
    assert launch.intrinsics["__bang_matmul"].operations == operations
    assert launch.directions["GDRAM2WRAM"].bytes == 64 * 64 * 2
    busy = 20 + math.ceil(operations / launch.model.matrix_half_operations)
    assert launch.intrinsics["__bang_matmul"].busy_ns == pytest.approx(busy)
    assert launch.theory.half
    assert launch.memory.used["WRAM"] > 0


def test_chains_of_operations_are_modelled(module: bang.Module) -> None:
    launch = profile_of(module, "chain", 1, 1024)
    assert launch.modelled_share == 1
    busy = {name: use.busy_ns for name, use in launch.intrinsics.items() if name.startswith("fusor")}
    assert busy == pytest.approx({"fusor::add": 20 + 32, "fusor::sqrt": 20 + 5 * 32})


def test_atomics_change_device_memory(module: bang.Module) -> None:
    launch = profile_of(module, "atomics", 4, np.zeros(100, np.int32), 100)
    found = launch.directions["atomic GDRAM"]
    assert (found.copies, found.bytes) == (4, 4 * 400)
    assert found.charged_bytes == 4 * 64 * (7 + 1)  # 400 bytes are six lines and a part of one


def test_scalar_accesses_are_counted(module: bang.Module) -> None:
    launch = profile_of(module, "scalars", 2, np.zeros(2, np.int32), 8)
    for core in launch.cores[:2]:
        assert (core.on_chip_loads, core.on_chip_stores, core.off_chip_loads, core.off_chip_stores) == (0, 8, 0, 1)
    assert launch.estimate_ns == pytest.approx(8 * 3 + 200)


def test_copies_through_sram_have_their_directions(module: bang.Module) -> None:
    launch = profile_of(module, "through_sram", (8, "union1"), floats(), floats())
    found = {name: (use.copies, use.bytes) for name, use in launch.directions.items()}
    size = 4 * N
    assert found == {"GDRAM2SRAM": (2, 2 * size), "SRAM2NRAM": (8, 8 * size), "NRAM2GDRAM": (1, size)}
    assert all(core.barriers == 1 for core in launch.cores if core.runs)
    # The copy of the memory cores, the barrier, the copy on chip, the copy out of one core.
    into = 100 + 2 * size / 60
    within = 2 + 7 + size / 64
    assert launch.estimate_ns == pytest.approx(into + 40 + within + 2 + 100 + size / 50, abs=4)


# ---- Estimates ----


@pytest.mark.parametrize(("tasks", "rate"), [(1, 50), (2, 25), (4, 12.5), (8, 7.5), (16, 3.75)])
def test_copies_share_the_bandwidth(module: bang.Module, tasks: int, rate: float) -> None:
    launch = profile_of(module, "load", tasks, floats(), N)
    assert launch.estimate_ns == pytest.approx(100 + 4 * N / rate)


def test_more_tasks_than_cores_run_in_turns(module: bang.Module) -> None:
    once, twice = (profile_of(module, "load", tasks, floats(), N).estimate_ns for tasks in (16, 32))
    assert twice == pytest.approx(2 * once)


@pytest.mark.parametrize("count", [1, 32, 33, 1000, N])
def test_vector_instructions_take_whole_cycles(module: bang.Module, count: int) -> None:
    def cycles(elements: int, passes: int = 1) -> int:
        return 20 + passes * math.ceil(elements * 4 / 128)

    launch = profile_of(module, "compute", 1, count)
    assert launch.estimate_ns == pytest.approx(cycles(N) + 2 * cycles(count) + cycles(count, 5))


def test_the_widest_operand_counts(module: bang.Module) -> None:
    launch = profile_of(module, "convert", 1, 1024)
    assert launch.estimate_ns == pytest.approx(20 + 1024 * 2 / 128 + 20 + 1024 * 4 / 128)
    assert launch.intrinsics["__bang_half2float"].elements == 1024


def test_cores_wait_at_a_barrier_for_the_last(module: bang.Module) -> None:
    launch = profile_of(module, "uneven", (4, "union1"))
    add, zero = 10 * (20 + N * 4 / 128), 20 + N * 4 / 128
    waits = [core.barrier_wait_ns for core in launch.cores[:4]]
    assert waits == pytest.approx([40, *[40 + add] * 3])
    # All drain their pipes before.
    assert launch.estimate_ns == pytest.approx(zero + add + 2 + 40)


def test_a_pipeline_takes_less_time_than_one_step_after_the_other(module: bang.Module) -> None:
    x = np.arange(64 * N, dtype=np.float32)
    first, second = np.empty_like(x), np.empty_like(x)
    serial = profile_of(module, "serial", (16, "union1"), first, x, 64)
    pipeline = profile_of(module, "pipeline", (16, "union1"), second, x, 64)
    assert np.array_equal(first, second)
    assert pipeline.directions["GDRAM2NRAM"].bytes == serial.directions["GDRAM2NRAM"].bytes == x.nbytes
    assert pipeline.estimate_ns < serial.estimate_ns
    assert serial.overlap == 0
    assert pipeline.overlap > 0.05
    assert "bandwidth" in pipeline.bottleneck
    # No faster than the bytes flow, or than a core computes.
    assert pipeline.estimate_ns > 2 * x.nbytes / 60
    assert 0 < serial.io_efficiency < pipeline.io_efficiency < 1


def test_two_runs_give_the_same_profile(module: bang.Module) -> None:
    x = floats(32 * N)
    first, second = (profile_of(module, "pipeline", (16, "union2"), x.copy(), x, 32) for _ in range(2))
    assert first.as_dict() == second.as_dict()
    assert np.array_equal(first.events, second.events)


def test_events_of_a_unit_follow_one_another(module: bang.Module) -> None:
    launch = profile_of(module, "pipeline", (16, "union1"), floats(32 * N), floats(32 * N), 32)
    lanes: dict[tuple[int, str], float] = {}
    for begin, end, _, core, site in launch.events.tolist():
        lane = core, launch.sites[site].unit
        assert lanes.get(lane, 0.0) <= begin + 1e-6
        assert begin < end <= launch.estimate_ns * (1 + 1e-12)
        lanes[lane] = end
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    for site in launch.sites:
        if site.direction:
            assert "__memcpy_async" in lines[site.line - 1]
            assert Path(site.file).name == SOURCE.name


NAMES = (
    *("nothing", "load", "load_async", "store", "store_async", "copy", "copy_async", "compute"),
    *("sync", "sync_io", "sync_move", "sync_compute", "barrier", "near", "far"),
)
PROGRAM = np.dtype([("name", "i4", (8, 12)), ("count", "i4", (8, 12))])
#: Of a program; whole lines, so that as many bytes are charged as are moved.
STEPS = st.tuples(st.sampled_from([name for name in NAMES if name != "barrier"]), st.integers(1, N // 16))


@examples(200)
@given(
    steps=st.lists(st.lists(STEPS, min_size=12, max_size=12), min_size=8, max_size=8),
    barriers=st.sets(st.integers(0, 11)),
)
def test_any_program_takes_the_time_that_the_model_says(
    module: bang.Module, steps: list[list[tuple[str, int]]], barriers: set[int]
) -> None:
    program = np.zeros((), PROGRAM)
    programs: list[list[tuple[str, int]]] = []
    for task, of_task in enumerate(steps):
        chosen = [("barrier", 16) if i in barriers else step for i, step in enumerate(of_task)]
        programs.append([(name, 64 * lines) for name, lines in chosen if name != "nothing"])
        program["name"][task] = [NAMES.index(name) for name, _ in chosen]
        program["count"][task] = [16 * lines for _, lines in chosen]
    launch = profile_of(module, "interpret", (8, "union1"), floats(), program)
    assert launch.modelled_share == 1
    expected = time_model.estimate([with_drains(p) for p in programs], [0] * 4 + [1] * 4, FIGURES)
    assert launch.estimate_ns == pytest.approx(expected, rel=1e-9)


def with_drains(program: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The program with what a synchronous copy does if asynchronous ones are in its pipe: it waits for them."""
    done: list[tuple[str, int]] = []
    pending = {"io": False, "move": False}
    for name, size in program:
        pipe = "io" if name.startswith(("load", "store")) else "move"
        if name in ("load", "store", "copy") and pending[pipe]:
            done.append((f"sync_{pipe}", 0))
            pending[pipe] = False
        if name.endswith("_async"):
            pending[pipe] = True
        if name in ("sync", "barrier"):
            pending = {"io": False, "move": False}
        if name in ("sync_io", "sync_move"):
            pending[name.removeprefix("sync_")] = False
        done.append((name, size))
    return done


# ---- Limits and failures ----


def test_what_is_beyond_the_limit_is_counted_and_no_part_of_the_estimate(module: bang.Module) -> None:
    x = floats(32 * N)
    whole = profile_of(module, "serial", (16, "union1"), x.copy(), x, 32)
    part = profile_of(module, "serial", (16, "union1"), x.copy(), x, 32, most_events=20)
    assert part.directions["GDRAM2NRAM"].bytes == whole.directions["GDRAM2NRAM"].bytes
    assert part.instructions == whole.instructions
    assert part.modelled_share == pytest.approx(20 / whole.instructions)
    assert part.estimate_ns < whole.estimate_ns


def test_a_failed_launch_is_told_to_have_failed(module: bang.Module) -> None:
    with sim.profiling() as profile, sim.checking("memory"), pytest.raises(pymluops.ExecutionFailedError):
        module.kernel("beyond")[1](floats())
    assert [launch.failed for launch in profile.launches] == [True]
    assert "FAILED" in profile.table()


def test_launches_that_the_call_does_not_wait_for_are_waited_for(module: bang.Module) -> None:
    x = pymluops.DeviceArray.from_host(floats())
    with pymluops.Queue() as queue:
        with sim.profiling() as profile:
            for _ in range(3):
                module.kernel("load")[4, "block", queue](x, N)
        assert [launch.kernel for launch in profile.launches] == ["load"] * 3
    module.kernel("load")[4](floats(), N)
    assert len(profile.launches) == 3


# ---- Memories ----


def test_high_water_marks_are_what_was_touched(module: bang.Module) -> None:
    memory = profile_of(module, "half_used", 1).memory
    used = {array.name: array.used for array in memory.arrays}
    assert used == {"a": 2 * N, "b": 32, "weights": 0, "filter": 0, "shared": 0}
    assert memory.used == {"NRAM": 2 * N + 32, "WRAM": 0, "SRAM": 0}
    assert memory.declared == {"NRAM": 8 * N, "WRAM": 1024 + 2 * 64 * 64, "SRAM": 4 * N}


def test_what_fits_is_known_before_a_launch(module: bang.Module) -> None:
    assert module.memory.declared == {"NRAM": 8 * N, "WRAM": 1024 + 2 * 64 * 64, "SRAM": 4 * N}
    assert module.kernel("load").memory.fits("MLU290")
    large = bang.compile("__nram__ char buffer[600 << 10];\n__mlu_entry__ void touch() { buffer[0] = 1; }", arch=372)
    assert large.memory.missing["MLU370-X8"] == ""
    assert large.memory.missing["MLU290"] == "NRAM of 524288 bytes, 614400 are declared"
    assert "MLU290: NRAM of 524288 bytes" in str(large.kernel("touch").memory)


@pytest.mark.thorough
def test_an_instance_of_a_template_has_arrays_of_its_own() -> None:
    module = bang.compile("""
template <int width>
__mlu_entry__ void touch() {
  __nram__ char buffer[width];
  buffer[0] = 1;
}
""")
    assert module.memory.declared["NRAM"] == 0
    assert [module.kernel(f"touch<{width}>").memory.declared["NRAM"] for width in (128, 4096)] == [128, 4096]


# ---- Output ----


@pytest.fixture(scope="module")
def profile(module: bang.Module) -> sim.Profile:
    with sim.profiling() as found:
        module.kernel("through_sram")[8, "union1"](floats(), floats())
        module.kernel("pipeline")[16, "union1"](floats(32 * N), floats(32 * N), 32)
    return found


def test_json_has_counts_and_says_that_times_are_estimates(profile: sim.Profile, tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    text = profile.to_json(path)
    assert path.read_text(encoding="utf-8") == text
    read = json.loads(text)
    assert (read["format"], read["version"]) == ("pymluops profile", 1)
    assert "no measurements" in read["times_are"]
    for launch, found in zip(profile.launches, read["launches"], strict=True):
        assert found["kernel"] == launch.kernel
        assert found["estimate"]["ns"] == launch.estimate_ns
        assert found["estimate"]["is_estimate"] is True
        assert set(found["estimate"]["sources"].values()) <= {"guess", "guide", "standard"}
        assert found["directions"] == {name: use._asdict() for name, use in launch.directions.items()}


def test_the_trace_has_a_lane_for_each_unit(profile: sim.Profile, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    profile.to_chrome_trace(path)
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert {"core 0 compute", "core 3 io", "memory core io", "core 0 scalar", "core 0 move"} <= set(names.values())
    # Cores of the larger launch, memory cores without a compute unit, and the launches.
    assert len(names) == 4 * (4 * 4 + 3) + 1
    named = [(e["name"], e["pid"], e["tid"]) for e in events if e["ph"] == "M"]
    assert len(set(named)) == len(named)
    processes = [(e["pid"], e["args"]["name"]) for e in events if e["name"] == "process_name"]
    assert processes == [(0, "launches"), *((cluster + 1, f"cluster {cluster}") for cluster in range(4))]
    spans = [event for event in events if event["ph"] == "X"]
    assert len(spans) == 2 + sum(len(launch.events) for launch in profile.launches)
    assert all(event["dur"] >= 0 and event["ts"] >= 0 for event in spans)
    assert {(event["pid"], event["tid"]) for event in spans} <= {(0, 0), *names}
    launches = [event for event in spans if event["cat"] == "launch"]
    assert launches[0]["ts"] + launches[0]["dur"] <= launches[1]["ts"]


class Page(HTMLParser):
    """Collects what a page refers to, and its data."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.data = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script" and not self.data:
            self.data = data


def test_the_page_holds_all_and_needs_no_network(profile: sim.Profile, tmp_path: Path) -> None:
    path = tmp_path / "profile.html"
    text = profile.to_html(path)
    assert path.read_text(encoding="utf-8") == text
    page = Page(text)
    assert page.open == []
    assert page.links == []
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    data = json.loads(page.data)
    assert [launch["kernel"] for launch in data["launches"]] == ["through_sram", "pipeline"]
    pipeline = data["launches"][1]
    assert len(pipeline["events"]) == len(profile.launches[1].events)
    assert any("__bang_active_sqrt(result" in line["text"] for line in pipeline["lines"])


def test_a_page_of_many_events_shows_neighbours_as_one(profile: sim.Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    from pymluops.sim.profiler import _page

    monkeypatch.setattr(_page, "_MOST_EVENTS", 10)
    monkeypatch.setattr(_page, "_STEPS", 5)
    (first, launch) = json.loads(Page(profile.to_html()).data)["launches"]
    whole = profile.launches[1].events
    assert len(first["events"]) < len(launch["events"]) < len(whole)
    assert sum(event[5] for event in launch["events"]) == len(whole)
    assert sum(event[4] for event in launch["events"]) == whole["bytes"].sum()
    assert max(event[1] for event in launch["events"]) == pytest.approx(whole["end_ns"].max(), abs=0.01)


def test_the_table_names_estimate_bottleneck_and_lines(profile: sim.Profile) -> None:
    text = str(profile)
    assert max(map(len, text.splitlines())) <= 120
    for words in ("a model, no measurement", "bottleneck", "GDRAM2SRAM", "profiled.mlu:", "MLU370-X8"):
        assert words in text


def test_text_from_a_kernel_cannot_leave_the_data_of_the_page(module: bang.Module) -> None:
    with sim.profiling() as profile:
        module.kernel("load")[1](floats(), N)
    (launch,) = profile.launches
    launch.kernel = "</script><script>alert(1)</script>"
    page = Page(profile.to_html())
    assert json.loads(page.data)["launches"][0]["kernel"] == launch.kernel
