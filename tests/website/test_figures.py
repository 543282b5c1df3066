"""Figures of the documentation that come from checked-in results of the benchmark."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PERFORMANCE = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
#: Rows of the table of the Intel Xeon with the size that they begin with, and their cases.
ROWS = {
    ("logspace", "65,536"): ["logspace/65536/f32"],
    ("adam_w", "1,048,576"): ["adam_w/1048576/f32"],
    ("moe_dispatch, forward, data, gate", "18,432 x 512"): [
        f"moe_dispatch_{way}/18432x512-at-2x9216/f32" for way in ("forward", "backward_data", "backward_gate")
    ],
    ("mutual_information, forward, backward", "2 of 380"): [
        f"mutual_information_{way}/2x380x380/f32" for way in ("forward", "backward")
    ],
    ("prior_box", "4 x 6"): ["prior_box/4x6-of-200/f32"],
    ("yolo_box", "3 x 80 of 76"): ["yolo_box/1x3x80-of-76/f32"],
    ("generate_proposals_v2", "6,000"): ["generate_proposals_v2/6000-to-1000-of-64/f32"],
    ("fft_forward, fft_real_forward", "one signal"): ["fft_forward/1x65536/f32", "fft_real_forward/1x65536/f32"],
}


@pytest.fixture(scope="module")
def xeon() -> dict[str, tuple[float, float]]:
    """Milliseconds, and our time divided by that of the best other."""
    text = (ROOT / "benchmarks" / "results" / "xeon-2-cpus.json").read_text(encoding="utf-8")
    return {case["id"]: _figures(case) for case in json.loads(text)["cases"]}


def _figures(case: dict[str, Any]) -> tuple[float, float]:
    times = {one["name"]: one["seconds"]["median"] for one in case["contenders"]}
    ratios = {one["to"]: one["median"] for one in case["ratios"]}
    others = [name for name in times if name in ratios and name not in ("memcpy", "float32", "one thread")]
    return 1e3 * times["pymluops"], ratios[min(others, key=lambda name: times[name])] if others else float("nan")


def _numbers(cell: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", cell)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_the_table_of_the_xeon_has_the_checked_in_figures(
    row: tuple[str, str], xeon: dict[str, tuple[float, float]]
) -> None:
    operator, size = row
    found = re.search(
        rf"^\| {re.escape(operator)} \| {re.escape(size)}[^|]*\|([^|]*)\|([^|]*)\|$", PERFORMANCE, re.MULTILINE
    )
    assert found is not None
    for (ms, ratio), *shown in zip((xeon[case] for case in ROWS[row]), _numbers(found[1]), _numbers(found[2])):
        # A figure has two digits, a ratio two decimals.
        assert shown[0] == pytest.approx(ms, rel=0.06), (operator, ms)
        assert shown[1] == pytest.approx(ratio, abs=0.0051), (operator, ratio)


def test_the_summary_of_the_xeon_is_that_of_the_results(xeon: dict[str, tuple[float, float]]) -> None:
    ratios = sorted(ratio for _, ratio in xeon.values() if ratio == ratio)
    said = re.search(r"One case of each of (\d+) operators|Of one case of each of (\d+) operators", PERFORMANCE)
    assert said is not None and int(said[1] or said[2]) == len(xeon)
    middle = (ratios[(len(ratios) - 1) // 2] + ratios[len(ratios) // 2]) / 2
    below = sum(ratio < 0.5 for ratio in ratios)
    text = " ".join(PERFORMANCE.split())
    assert f"has the median {middle:.2f}, and is below a half for {below} of {len(ratios)}" in text
    for name, case in {
        "contour_expand": "contour_expand/640/f32",
        "dynamic_voxelize": "dynamic_voxelize/17238-5x16000/f32",
    }.items():
        assert f"`{name}` ({xeon[case][1]:.2f})" in text


def test_the_table_of_elementwise_functions_has_the_checked_in_figures() -> None:
    text = (ROOT / "benchmarks" / "results" / "epyc-zen5-2-cpus.json").read_text(encoding="utf-8")
    cases = {case["id"]: case for case in json.loads(text)["cases"]}
    for name in ("abs", "sqrt", "sqrt_backward", "log", "div", "lgamma"):
        found = re.search(rf"^\| {name} \|(.*)\|$", PERFORMANCE, re.MULTILINE)
        assert found is not None
        large = [figure for kind in ("f32", "f16") for figure in _ratios(cases[f"{name}/33554432/{kind}"])]
        wanted = [_ratios(cases[f"{name}/65536/f32"])[1], *large]
        assert _numbers(found[1]) == pytest.approx(wanted, abs=0.0051)


def _ratios(case: dict[str, Any]) -> tuple[float, float]:
    """By memcpy and by the best other, with two threads."""
    times = {one["name"]: one["seconds"]["median"] for one in case["contenders"] if one["threads"] == 2}
    ratios = {one["to"]: one["median"] for one in case["ratios"] if one["threads"] == 2}
    others = [name for name in times if name in ratios and name not in ("memcpy", "float32", "one thread")]
    return ratios["memcpy"], ratios[min(others, key=lambda name: times[name])]


def test_networks_have_ratios_of_our_time() -> None:
    table = re.findall(r"^\| `(\w+)` \|(.*)\|$", (ROOT / "docs" / "networks.md").read_text("utf-8"), re.MULTILINE)
    rows = [[_numbers(cell) for cell in cells.split("|")] for _, cells in table]
    assert len(rows) >= 6
    for row in rows:
        for ours, theirs, ratio in (row[:3], row[5:8]):
            if ours and theirs:
                assert ratio[0] == pytest.approx(ours[0] / theirs[0], abs=0.015)
