"""Rounds, medians, the yardstick and threads. Nothing here depends on how fast this machine is."""

from __future__ import annotations

import threading
import time
import timeit
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import driver, memory, sizes, summary, timing
from benchmarks.cases import FAMILIES, Case, load_cases
from benchmarks.families import same_kernel
from benchmarks.memcpy import Memcpy
from benchmarks.peers import Peer, Variants, installed_peers
from benchmarks.problem import Arrays, Problem
from benchmarks.threads import close_teams, together
from benchmarks.timing import Contender, Plan, measure
from support import families
from support.example import CHOOSING, MOVING


class Clock:
    """Time that passes only when a contender says so."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


def contender(name: str, clock: Clock, nanoseconds: list[int], log: list[str], estimate: float) -> Contender:
    calls = iter(range(10**6))

    def run() -> None:
        log.append(name)
        clock.now += nanoseconds[next(calls) % len(nanoseconds)]

    return Contender(name, "", 1, run, lambda threads: log.append(f"{name} prepares"), estimate)


def test_each_round_has_one_turn_a_contender_with_an_uncounted_call() -> None:
    clock, log = Clock(), []
    plan = Plan(budget=1.0, rounds=(4, 4), turn=3e-3, calls=(1, 3), pause=0.0)
    both = [contender("a", clock, [9_000_000, 1000, 1000, 1000], log, 1e-3), contender("b", clock, [5000], log, 1e-3)]
    assert measure(both, plan, clock) == 4
    assert both[0].times == dict.fromkeys(range(4), 1e-6)  # the slow first call of a turn does not count
    assert both[1].times == dict.fromkeys(range(4), 5e-6)
    assert both[0].calls == 12
    turns = [entry for entry in log if entry.endswith("prepares")]
    assert all(sorted(turns[i : i + 2]) == ["a prepares", "b prepares"] for i in range(0, 8, 2))
    assert len({tuple(turns[i : i + 2]) for i in range(0, 8, 2)}) == 2  # not always in the same order
    assert log.count("a") == 4 * (1 + 3)


def test_a_slow_contender_takes_part_in_few_rounds_spread_evenly() -> None:
    clock, log = Clock(), []
    plan = Plan(budget=1.0, rounds=(5, 12), slow_rounds=3, pause=0.0)
    fast, slow = contender("fast", clock, [10], log, 1e-5), contender("slow", clock, [10], log, 2.0)
    assert measure([fast, slow], plan, clock) == 12
    assert sorted(fast.times) == list(range(12))
    assert sorted(slow.times) == [3, 7, 11]
    needed = contender("needed", clock, [10], log, 2.0)
    needed.essential = True
    assert measure([needed], plan, clock) == 5
    assert [sum(timing.takes_part(n, wanted, 12) for n in range(12)) for wanted in range(13)] == list(range(13))


def test_ratios_are_taken_within_rounds() -> None:
    ours, base = {0: 2.0, 1: 20.0, 2: 3.0}, {0: 1.0, 1: 10.0, 2: 1.0, 3: 100.0}
    found = summary.ratio(ours, base)
    assert found["median"] == 2.0
    assert found["of_least"] == 2.0
    assert found["of_medians"] == 3.0 / 5.5
    with pytest.raises(ValueError, match="no round"):
        summary.ratio({1: 1.0}, {2: 1.0})


def test_a_spread_has_median_quartiles_and_least() -> None:
    found = summary.spread([5.0, 1.0, 3.0, 2.0, 4.0])
    assert found == {"median": 3.0, "low_quartile": 2.0, "high_quartile": 4.0, "least": 1.0, "count": 5}


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("bytes_moved", [2, 100, 8192, 100_001, 1_000_000])
def test_memcpy_moves_half_of_the_bytes(bytes_moved: int, threads: int) -> None:
    for name in Memcpy(bytes_moved).variants(threads):
        copier = Memcpy(bytes_moved)
        assert copier.source.size == copier.target.size == bytes_moved // 2
        assert copier.source.ctypes.data % 4096 == copier.target.ctypes.data % 4096 == 0
        assert not copier.copied()
        copier.variants(threads)[name]()
        assert copier.copied(), name


def test_a_team_shares_the_work_and_ends() -> None:
    before, seen = threading.active_count(), []

    def work(start: int, stop: int) -> None:
        seen.append((start, stop, threading.get_ident()))

    run = together(work, 10, 3)
    for _ in range(50):
        seen.clear()
        run()
        assert sorted(part[:2] for part in seen) == [(0, 3), (3, 6), (6, 10)]
        assert len({part[2] for part in seen}) == 3
    close_teams()
    assert threading.active_count() == before
    seen.clear()
    together(work, 0, 3)()
    together(work, 2, 8)()
    assert sorted(part[:2] for part in seen) == [(0, 1), (1, 2)]


def test_an_error_in_a_team_is_raised() -> None:
    def work(start: int, stop: int) -> None:
        if start:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        together(work, 2, 2)()


def test_a_case_gives_times_and_ratios_for_each_contender_and_number_of_threads(tiny_case: Case) -> None:
    found = driver.run_case(tiny_case, installed_peers(("numpy",)), [1, 2], Plan(budget=0.05, rounds=(3, 4), pause=0.0))
    assert found["wrong"] == []
    keys = {(c["name"], c["threads"]) for c in found["contenders"]}
    assert keys == {(name, threads) for name in ("pymluops", "memcpy", "numpy") for threads in (1, 2)}
    assert {(r["to"], r["threads"]) for r in found["ratios"]} == {
        ("memcpy", 1), ("numpy", 1), ("memcpy", 2), ("numpy", 2), ("one thread", 2),
    }  # fmt: skip
    assert all(c["seconds"]["median"] > 0 and c["calls"] >= c["seconds"]["count"] >= 3 for c in found["contenders"])


def test_a_float16_case_is_measured_in_float32_too(tiny_case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    half, calls = replace(tiny_case, id=f"{MOVING.name}/tiny/f16", dtype="float16"), Counter()
    build = driver.build

    def counting(case: Case) -> Problem:
        problem = build(case)

        def run(buffers: Arrays) -> Arrays:
            calls[str(buffers["out"].dtype)] += 1
            return problem.run(buffers)

        return replace(problem, run=run)

    monkeypatch.setattr(driver, "build", counting)
    found = driver.run_case(half, [], [1, 2], Plan(budget=0.05, rounds=(3, 3), pause=0.0))
    assert sorted(r["threads"] for r in found["ratios"] if r["to"] == "float32") == [1, 2]
    assert found["bytes_read"] == build(half).bytes_read
    for name, dtype in (("pymluops", "float16"), ("float32", "float32")):
        assert calls[dtype] > sum(c["calls"] for c in found["contenders"] if c["name"] == name) > 0


def test_all_contenders_write_into_the_same_arrays(tiny_case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    build, ours, theirs = driver.build, set(), set()

    def noting(case: Case) -> Problem:
        problem = build(case)

        def run(buffers: Arrays) -> Arrays:
            ours.add(buffers["out"].ctypes.data)
            return problem.run(buffers)

        return replace(problem, run=run)

    def variants(peer: Peer, problem: Problem, outputs: Arrays, threads: int) -> Variants:
        theirs.add(outputs["out"].ctypes.data)
        return {"": lambda: build(tiny_case).run(outputs)}

    monkeypatch.setattr(driver, "build", noting)
    monkeypatch.setattr(Peer, "variants", variants)
    driver.run_case(tiny_case, installed_peers(("numpy",)), [1, 2], Plan(budget=0.05, rounds=(3, 3), pause=0.0))
    assert len(theirs) == 1
    assert theirs < ours  # which have written elsewhere once, for what is expected


def test_growth_is_judged_against_ten_million_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = {"1000": 1e-6, "10000000": 1e-2, "100000000": 0.15}

    copied = {"1000": 1e-7, "10000000": 1e-3, "100000000": 0.01}

    def fake(case, peers, threads, plan):
        size = int(case.name)
        times = {"pymluops": seconds, "memcpy": copied}
        return {
            "parameters": {}, "elements": size, "bytes_read": 2 * size, "bytes_written": 2 * size, "wrong": [],
            "contenders": [
                {"name": name, "threads": 2, "seconds": {"median": times[name][case.name]}} for name in times
            ],
            "ratios": [{"to": "memcpy", "threads": 2, "median": 1.0}],
        }  # fmt: skip

    monkeypatch.setattr(sizes, "run_case", fake)
    several = next(iter(sizes.size_cases([10**3, 10**7, 10**8])))
    entries = sizes.run_sizes(several, [], 2, Plan())
    assert [entry["growth"] for entry in entries] == [None, None, pytest.approx(1.5)]
    assert [verdict["holds"] for verdict in sizes.judge(entries)] == [False]
    copied["100000000"] = 0.013  # memory itself is that much slower
    assert [verdict["holds"] for verdict in sizes.judge(sizes.run_sizes(several, [], 2, Plan()))] == [True]


def test_every_operator_has_sizes() -> None:
    names = [several[0].id.rpartition("/")[0] for several in sizes.size_cases(sizes.SIZES)]
    assert len(names) == len(set(names))
    shared = {name for family in FAMILIES for name in same_kernel(family)}
    assert {name.partition("/")[0] for name in names} == set(families.OPERATORS) - shared
    assert {case.operator for case in load_cases()} == {name.partition("/")[0] for name in names}


def test_memory_is_measured_in_a_process_of_its_own() -> None:
    case = next(case for case in load_cases() if case.id == f"{CHOOSING.name}/2x40x40-mask41/collect/f32")
    found = memory.run_memory(case, 2)
    assert found["input_bytes"] == 2 * 40 * 40 * 41 * 41 * 4
    assert found["output_bytes"] == 2 * 1600 * 1600 * 4
    assert 0 <= found["extra_bytes"] < 100e6
    assert memory.judge([{**found, "part": 0.2, "judged": True}])[0]["holds"] is False
    assert memory.judge([{**found, "judged": False}]) == []


def test_an_estimate_is_the_shortest_call() -> None:
    pauses = iter([0.02, 0.004, 0.001, 0.004, 0.004, 0.004])
    slow_first = Contender("x", "", 1, lambda: time.sleep(next(pauses)), lambda threads: None)
    assert 0.001 <= timing.estimate(slow_first) < 0.004


def test_calls_in_turns_have_as_many_rounds_each() -> None:
    now = [0]

    def call(nanoseconds: int) -> None:
        now[0] += nanoseconds

    calls = {"short": lambda: call(1000), "long": lambda: call(70_000)}
    plan = timing.Plan(budget=0.0, rounds=(4, 9), calls=(1, 1), pause=0.0)
    times = timing.times_in_turns(calls, plan, lambda: now[0])
    assert times == {"short": [1e-6] * 4, "long": [7e-5] * 4}


def test_nanoseconds_are_those_of_one_call() -> None:
    timer = timeit.Timer("sleep(0.002)", globals={"sleep": time.sleep})
    (values,) = timing.nanoseconds({"sleep": timer}, 3, 2).values()
    assert len(values) == 2
    assert all(2e6 <= value < 2e8 for value in values)


def test_arrays_of_buffers_are_written_before_they_are_used(tiny_case: Case) -> None:
    from benchmarks.families import build

    assert all(np.all(array.view(np.uint8) == 0xA5) for array in build(tiny_case).buffers().values())
