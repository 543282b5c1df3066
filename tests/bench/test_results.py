"""What is said about results: rules, comparisons, text."""

from __future__ import annotations

import copy

import pytest

from benchmarks import compare, overhead, report, verdicts


def entry(name: str, threads: int, median: float, variant: str = "") -> dict:
    seconds = {"median": median, "low_quartile": 0.9 * median, "high_quartile": 1.1 * median, "least": 0.8 * median}
    return {
        "name": name,
        "variant": variant,
        "threads": threads,
        "seconds": {**seconds, "count": 9},
        "calls": 9,
    }


def case(
    name: str, times: dict[tuple[str, int], float], limits: dict[str, float] | None = None, dtype: str = "float32"
) -> dict:
    """Results of a case whose contenders took these times."""
    ratios = []
    for (other, threads), seconds in times.items():
        if other != "pymluops":
            value = times["pymluops", threads] / seconds
            ratios.append({"to": other, "threads": threads, "median": value, "of_medians": value, "of_least": value})
    if ("pymluops", 1) in times and ("pymluops", 2) in times:
        ratios.append({"to": "one thread", "threads": 2, "median": times["pymluops", 2] / times["pymluops", 1]})
    return {
        "id": name, "group": "limits", "dtype": dtype, "limits": limits or {}, "bytes_read": 10**6,
        "bytes_written": 10**6, "other_cpus": 0.0, "wrong": [], "ratios": ratios,
        "contenders": [entry(*key, seconds) for key, seconds in times.items()],
    }  # fmt: skip


def missed(*cases: dict) -> set[str]:
    return {verdict["rule"] for verdict in verdicts.judge(cases) if not verdict["holds"]}


def held(*cases: dict) -> set[str]:
    return {verdict["rule"] for verdict in verdicts.judge(cases) if verdict["holds"]}


def test_a_limit_on_memcpy() -> None:
    times = {("pymluops", 2): 1.2, ("memcpy", 2): 1.0}
    assert held(case("x", times, {"memcpy": 1.3})) == {"times memcpy"}
    assert missed(case("x", times, {"memcpy": 1.1})) == {"times memcpy"}


def test_the_best_peer_counts_at_the_most_threads() -> None:
    times = {("pymluops", 1): 9.0, ("memcpy", 1): 8.9, ("numpy", 1): 1.0,
             ("pymluops", 2): 1.0, ("memcpy", 2): 0.9, ("numpy", 2): 3.0, ("torch", 2): 2.0}  # fmt: skip
    slow = case("x", times, {"peer": 0.25})
    assert missed(slow) == {"times torch"}
    assert missed(case("x", {**times, ("torch", 2): 4.0}, {"peer": 0.4})) == set()
    assert "not slower than torch" in held(case("x", times))
    assert "not slower than torch" in missed(case("x", {**times, ("torch", 2): 0.5}))


def test_two_threads_must_help_unless_memory_is_the_limit() -> None:
    rule = "two threads against one"
    busy = {("pymluops", 1): 0.010, ("memcpy", 1): 0.002, ("pymluops", 2): 0.009, ("memcpy", 2): 0.001}
    assert rule in missed(case("x", busy))
    assert rule in held(case("x", {**busy, ("pymluops", 2): 0.006}))
    assert rule not in missed(case("x", {**busy, ("memcpy", 2): 0.0099}))  # one thread copies at that speed already
    assert rule in held(case("x", {**busy, ("memcpy", 2): 0.0075}))  # two threads are at the speed of memory
    assert rule not in missed(case("x", {key: seconds / 1000 for key, seconds in busy.items()}))  # too short to share


def test_float16_must_not_be_slower_than_float32() -> None:
    rule = "float16 against float32"
    times = {("pymluops", 1): 2.0, ("memcpy", 1): 1.0, ("float32", 1): 1.0,
             ("pymluops", 2): 1.01, ("memcpy", 2): 0.7, ("float32", 2): 1.0}  # fmt: skip
    assert rule in held(case("x/f16", times, dtype="float16"))
    assert rule in missed(case("x/f16", {**times, ("pymluops", 2): 1.2}, dtype="float16"))
    assert rule not in held(case("x/f32", {key: times[key] for key in times if key[0] != "float32"}))


def test_ours_in_float32_is_no_peer() -> None:
    half = case("x/f16", {("pymluops", 2): 1.0, ("memcpy", 2): 0.7, ("float32", 2): 0.1, ("numpy", 2): 3.0})
    assert [peer["name"] for peer in verdicts.all_peers(half, 2)] == ["numpy"]
    assert "not slower than numpy" in held(half)


MACHINE = {
    "cpu": {"model": "a CPU", "usable": 2}, "caches": {"L1": "32K"}, "pymluops": "1", "python": "3", "time": "now",
    "instruction_level": "level", "peers": {"numpy": "2", "torch": None},
}  # fmt: skip


def document(*cases: dict) -> dict:
    return {"schema": 1, "machine": MACHINE, "notes": [], "cases": list(cases), "verdicts": verdicts.judge(cases)}


@pytest.mark.parametrize(("factor", "least", "verdict"), [(1.0, 1.0, "same"), (1.3, 1.3, "slower"), (1.3, 1.0, "same"),
                                                          (1.05, 1.3, "same"), (0.7, 0.7, "faster")])  # fmt: skip
def test_a_change_counts_if_median_and_least_agree(factor: float, least: float, verdict: str) -> None:
    old = document(case("x", {("pymluops", 2): 2.0, ("memcpy", 2): 1.0}))
    new = copy.deepcopy(old)
    new["cases"][0]["ratios"][0].update(median=2.0 * factor, of_least=2.0 * least)
    changes = compare.compare(old, new)
    assert [change["verdict"] for change in changes] == [verdict]
    assert bool(compare.regressions(changes)) == (verdict == "slower")
    assert f"1 {verdict}" in compare.render(changes, old, new)


def test_cases_that_only_one_side_has_are_not_compared() -> None:
    times = {("pymluops", 2): 2.0, ("memcpy", 2): 1.0}
    assert compare.compare(document(case("x", times)), document(case("y", times))) == []


def test_the_report_shows_times_ratios_limits_and_what_is_missed() -> None:
    times = {
        ("pymluops", 1): 0.004,
        ("memcpy", 1): 0.002,
        ("pymluops", 2): 0.003,
        ("memcpy", 2): 0.001,
        ("torch", 2): 0.002,
    }
    slow = case("op/shape/f32", times, {"memcpy": 1.5})
    slow["other_cpus"] = 1.4
    slow["wrong"] = [{"peer": "numpy", "variant": "v", "threads": "2", "error": "out: 3 of 9 bytes differ"}]
    text = report.render(document(slow))
    row = next(line for line in text.splitlines() if line.startswith("op/shape/f32") and " 2 " in line)
    for part in ("3", "20 %!", "3.00", "1.5", "torch", "1.50", "1.33"):
        assert part in row
    assert "torch not installed" in text
    assert "wrong: op/shape/f32: numpy (v, 2 threads): out: 3 of 9 bytes differ" in text
    assert "missed: op/shape/f32, 2 threads: times memcpy 3.00, limit 1.5" in text
    assert "other processes kept 1.4 CPUs busy" in text


def test_overhead_is_judged_against_its_limit_and_against_torch() -> None:
    times = {"pymluops": {"median": 1500.0}, "torch": {"median": 1400.0}}
    found = overhead.judge([{"operator": "op", "nanoseconds": times, "limit": 2000.0}])
    assert [(verdict["rule"], verdict["holds"]) for verdict in found] == [
        ("nanoseconds a call", True), ("nanoseconds against PyTorch's", False),
    ]  # fmt: skip
    assert overhead.judge([{"operator": "op", "nanoseconds": {"pymluops": {"median": 9.0}}, "limit": None}]) == []
    tensors = {"pymluops": {"median": 5000.0}, "numpy": {"median": 1500.0}}
    found = overhead.judge([{"operator": "op", "nanoseconds": tensors, "beyond": 3500.0, "limit": 3000.0}])
    assert [(verdict["found"], verdict["holds"]) for verdict in found] == [(3500.0, False)]
