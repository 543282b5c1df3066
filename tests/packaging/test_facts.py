"""Sentences of fact on the pages of the repository, each checked against what it is about."""

from __future__ import annotations

import json
import re
import statistics
import tomllib
from pathlib import Path
from typing import Any

import pytest

import pymluops
from pymluops import functions
from pymluops.sim import toolchain

ROOT = Path(__file__).parents[2]
OURS = ("pymluops", "memcpy", "float32", "one thread")


def page(name: str) -> str:
    """The text of a page, with single spaces."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def parts(machine: str) -> list[float]:
    """Our time divided by that of the fastest other implementation, for each case with two threads."""
    found = []
    for case in json.loads((ROOT / "benchmarks" / "results" / machine).read_text(encoding="utf-8"))["cases"]:
        times = [(one["name"], one["seconds"]["median"]) for one in case["contenders"] if one["threads"] == 2]
        ours = [seconds for name, seconds in times if name == "pymluops"]
        others = [seconds for name, seconds in times if name not in OURS]
        if ours and others:
            found.append(min(ours) / min(others))
    return found


def test_the_median_of_the_readme() -> None:
    found = parts("xeon-2-cpus.json")
    assert f"in the median of {len(found)} cases a seventh of the time" in page("README.md")
    assert 1 / 7.5 < statistics.median(found) < 1 / 6.5
    machine = json.loads((ROOT / "benchmarks" / "results" / "xeon-2-cpus.json").read_text(encoding="utf-8"))["machine"]
    assert "Xeon" in machine["cpu"]["model"]
    assert machine["cpu"]["usable"] == 2
    assert "avx512f" in machine["cpu"]["features"]


def test_the_chart_and_its_sentence_name_one_machine() -> None:
    source = (ROOT / "tools" / "pictures" / "of_speed.py").read_text(encoding="utf-8")
    (name,) = re.findall(r'"([\w-]+\.json)"', source)
    model = json.loads((ROOT / "benchmarks" / "results" / name).read_text(encoding="utf-8"))["machine"]["cpu"]["model"]
    assert model == "AMD EPYC"
    assert "2 virtual CPUs of an AMD EPYC" in source
    assert "The chart has five operators on two virtual CPUs of an AMD EPYC." in page("README.md")


def test_versions_of_tools_and_languages() -> None:
    cmake = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    generate = (ROOT / "cmake" / "MluopsGenerate.cmake").read_text(encoding="utf-8")
    (least,) = re.findall(r"cmake_minimum_required\(VERSION ([\d.]+)\)", cmake)
    (python,) = re.findall(r"find_package\(Python ([\d.]+) REQUIRED", generate)
    simulator = project()["requires-python"].removeprefix(">=")
    assert f"It needs CMake {least}, a C++17 compiler, and Python {python}" in page("docs/c.md")
    assert f"{simulator} for the simulator" in page("docs/c.md")
    assert "import tomllib" in Path(toolchain.__file__).read_text(encoding="utf-8")  # of Python 3.11
    assert f"(Python {simulator} or newer, a C++17 compiler;" in page("README.md")
    assert f"serves every Python from {simulator} on" in page("README.md")


def test_dependencies() -> None:
    names = [re.split(r"[<>=]", one)[0] for one in project()["dependencies"]]
    assert names == ["numpy", "cffi"]
    assert "needs NumPy and cffi only" in page("README.md")


@pytest.mark.parametrize("name", ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))])
def test_numbers_of_functions_and_extras(name: str) -> None:
    text = page(name)
    for number in re.findall(r"\ball (\d+) functions of (?:mlu-ops|`mlu_op\.h`)", text):
        assert int(number) == len(functions)
    for extras in re.findall(r"pip install ['\"](?:pymluops|\.)\[([\w,]+)\]", text):
        assert set(extras.split(",")) <= set(project()["optional-dependencies"])
    for version in re.findall(r"mlu-ops (\d+\.\d+\.\d+)", text):
        assert version == ".".join(map(str, pymluops.functions.mluOpGetLibVersion()))


def test_the_documentation_is_built_by_a_command() -> None:
    """The extra alone builds nothing."""
    for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md"):
        text = page(name)
        places = [match.end() for match in re.finditer(r'pip install "\.\[docs\]"', text)]
        assert places
        assert all("python3 -m sphinx" in text[place : place + 60] for place in places), name


def test_no_page_says_that_the_header_is_the_vendors() -> None:
    """Its text is ours; the ABI is the vendor's."""
    for name in ("README.md", "docs/c.md"):
        assert not re.search(r"header is the vendor's|is the vendor's header", page(name))
