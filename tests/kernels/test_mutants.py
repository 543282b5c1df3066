"""Our own kernels with a line changed: the checkers find it, where it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kernels.variant_libraries import CALLS, FAMILIES, VARIANTS, Libraries, Variant, line_of
from pymluops.sim.toolchain import Toolchain
from support.processes import python_output

RUN = "import sys; from kernels.variant_libraries import main; main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])"


@pytest.fixture(scope="module")
def libraries(toolchain: Toolchain) -> Libraries:
    return Libraries(toolchain)


@pytest.mark.thorough  # each compiles a library
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: f"{variant.family}-{variant.name}")
def test_changed_kernel(variant: Variant, libraries: Libraries) -> None:
    found = json.loads(python_output(RUN, str(libraries.build(variant)), str(variant.arch), variant.call))
    path, line = line_of(variant)
    places = [(f"{finding['checker']}/{finding['rule']}", finding["file"], finding["line"]) for finding in found]
    names = {Path(file).name for _, file, _ in places}
    assert (variant.finding, path.name, line) in [(rule, Path(file).name, at) for rule, file, at in places], (
        names,
        [finding["message"] for finding in found],
        places,
    )


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: f"{variant.family}-{variant.name}")
def test_the_lines_to_change_are_there(variant: Variant) -> None:
    path, line = line_of(variant)
    assert path.is_file()
    assert line > 0


def test_unchanged_kernels() -> None:
    found = python_output(RUN, "sim", "372", *CALLS)
    assert [json.loads(line) for line in found.splitlines()] == [[]] * len(CALLS)


def test_every_family_is_there() -> None:
    assert {variant.family for variant in VARIANTS} == set(FAMILIES)
