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


#: Beginnings of rows of the tables of the two EPYC, with their cases; both directions, or both
#: kinds of scans, of some.
EPYC_ROWS = {
    "tin_shift [3, 15, 16, 45435] f32": [f"tin_shift_{way}/3x15x16x45435/f32" for way in ("forward", "backward")],
    "tin_shift [3, 15, 16, 45435] f16": [f"tin_shift_{way}/3x15x16x45435/f16" for way in ("forward", "backward")],
    "tin_shift [2, 8, 64, 3136] f32": [f"tin_shift_{way}/2x8x64x3136/f32" for way in ("forward", "backward")],
    "tin_shift [2, 8, 64, 3136] f16": [f"tin_shift_{way}/2x8x64x3136/f16" for way in ("forward", "backward")],
    **{
        f"psamask {size}, {way}": [f"psamask_{way}/{case}/{kind}/f32" for kind in ("collect", "distribute")]
        for size, case in (("59 x 59, mask 117", "1x59x59-mask117"), ("8 of 16 x 16, mask 31", "8x16x16-mask31"))
        for way in ("forward", "backward")
    },
    **{
        f"three_interpolate f32 {size}": [f"three_interpolate_{way}/{case}/f32" for way in ("forward", "backward")]
        for size, case in (
            ("[16, 1024, 4096], M = 128", "16x1024x4096-128"),
            ("[16, 128, 4096], M = 1024", "16x128x4096-1024"),
            ("[16, 256, 1024], M = 256", "16x256x1024-256"),
        )
    },
    "border_align f32": [f"border_align_{way}/2x950x4x256-pool10/f32" for way in ("forward", "backward")],
    "get_indice_pairs, sub-manifold": [f"get_indice_pairs/submanifold-248636/{kind}" for kind in ("uniform", "lidar")],
    "get_indice_pairs, strided": [f"get_indice_pairs/strided-149100/{kind}" for kind in ("uniform", "lidar")],
}
EPYCS = {"AVX-512: AMD EPYC": "epyc-2-cpus.json", "AVX2": "epyc-avx2-2-cpus.json"}


def _section(heading: str) -> str:
    part = re.split(rf"^### {re.escape(heading)}$", PERFORMANCE, maxsplit=1, flags=re.MULTILINE)[1]
    return re.split(r"^##+ ", part, maxsplit=1, flags=re.MULTILINE)[0]


def _figures_of(line: str) -> list[list[str]]:
    """The figures in the cells of a row behind the first one, without what is in brackets."""
    cells = (re.sub(r"\(.*?\)", "", cell) for cell in line.strip("| ").split("|")[1:])
    return [re.findall(r"\d+(?:\.\d+)?", cell) for cell in cells]


def _shows(figure: str, value: float) -> bool:
    """Whether a figure is a value, rounded to its last digit."""
    return abs(float(figure) - value) <= 0.55 * 10.0 ** -len(figure.partition(".")[2])


@pytest.mark.parametrize("heading", EPYCS)
def test_the_tables_of_the_epyc_have_the_checked_in_figures(heading: str) -> None:
    result = json.loads((ROOT / "benchmarks" / "results" / EPYCS[heading]).read_text(encoding="utf-8"))
    section = _section(heading)
    held = [verdict["holds"] for verdict in result["verdicts"]]
    assert f"{sum(held)} of {len(held)} rules hold" in " ".join(section.split())
    cases = {case["id"]: case for case in result["cases"]}
    for row, names in EPYC_ROWS.items():
        (line,) = [line for line in section.splitlines() if line.startswith(f"| {row}")]
        times, _, best, threads = _figures_of(line)
        for name, *shown in zip(names, times, best, threads, strict=True):
            ratios = {one["to"]: one["median"] for one in cases[name]["ratios"] if one["threads"] == 2}
            for figure, wanted in zip(shown, (*_ratios(cases[name]), 1 / ratios["one thread"]), strict=True):
                assert _shows(figure, wanted), (name, figure, wanted)


def test_the_first_table_has_the_figures_of_the_epyc() -> None:
    first = PERFORMANCE.partition("## Yardstick")[0]
    result = json.loads((ROOT / "benchmarks" / "results" / "epyc-2-cpus.json").read_text(encoding="utf-8"))
    cases = {case["id"]: case for case in result["cases"]}
    kinds = {f"psamask {kind}, 59": [f"psamask_{way}/1x59x59-mask117/{kind}/f32" for way in ("forward", "backward")]
             for kind in ("collect", "distribute")}  # fmt: skip
    others = ("tin_shift [3", "three_interpolate", "border_align", "get_indice_pairs, sub", "get_indice_pairs, strided")
    kinds |= {begin: next(EPYC_ROWS[row] for row in EPYC_ROWS if row.startswith(begin)) for begin in others}
    lines = [line for line in first.splitlines() if line.startswith("| ") and "---" not in line][1:]
    assert len(lines) == len(kinds)
    for begin, names in kinds.items():
        (line,) = [line for line in lines if line.startswith(f"| {begin}")]
        shown = zip(*_figures_of(line), strict=True)
        for name, figures in zip(names, shown, strict=True):
            for figure, wanted in zip(figures, _ratios(cases[name]), strict=True):
                assert _shows(figure, wanted), (name, figure, wanted)


def test_networks_have_ratios_of_our_time() -> None:
    table = re.findall(r"^\| `(\w+)` \|(.*)\|$", (ROOT / "docs" / "networks.md").read_text("utf-8"), re.MULTILINE)
    rows = [[_numbers(cell) for cell in cells.split("|")] for _, cells in table]
    assert len(rows) >= 6
    for row in rows:
        for ours, theirs, ratio in (row[:3], row[5:8]):
            if ours and theirs:
                assert ratio[0] == pytest.approx(ours[0] / theirs[0], abs=0.015)
