"""What the checkers say of kernels that are broken on purpose, and of kernels that only come close.

The sources are in ``broken/`` and ``clean/``. A host function ``..._run`` belongs to the kernel
before it and launches it. In comments of that kernel stands what is expected:

``// finding: race/between-cores``
    on the line that has to be named, with the checker and the rule;
``// other``
    on the line of the other access;
``// checks: none``
    before a kernel that is not to be run with all checkers.

A line ``// archs: 270 290`` at the top of a source tells the architectures that it is for, if not
372 alone.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from kernels.host_functions import HERE, KERNEL_TRAP, SUCCESS, Device, Outcome
from pymluops.sim import Finding
from pymluops.sim.toolchain import Toolchain

ENTRY = re.compile(r'extern "C" int (\w+)\(')
FINDING = re.compile(r"// finding: (\w+)/([\w-]+)")
#: Of a process: others have other ones.
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
NAMES = re.compile(
    r"the (freed )?(argument \w+|arguments \w+|allocation (\d+ )?of) |the array \w+ of the kernel"
    r"|the (variable|constant array) \w+|the stack of the core"
)


@dataclass(frozen=True)
class Case:
    """A host function with what the comments before it say."""

    source: Path
    function: str
    findings: frozenset[tuple[str, str, int]]
    other: frozenset[int]
    checks: str
    archs: tuple[int, ...]


def cases(folder: str) -> list[Case]:
    return [case for source in sorted((HERE / folder).glob("*.mlu")) for case in cases_of(source)]


def cases_of(source: Path) -> list[Case]:
    lines = list(enumerate(source.read_text(encoding="utf-8").splitlines(), 1))
    archs = re.match(r"// archs: ([\d ]+)$", lines[0][1])
    found = []
    text: list[tuple[int, str]] = []
    for number, line in lines:
        text.append((number, line))
        if entry := ENTRY.match(line):
            found.append(case_of(source, entry[1], text, tuple(map(int, archs[1].split())) if archs else (372,)))
            text = []
    return found


def case_of(source: Path, function: str, text: list[tuple[int, str]], archs: tuple[int, ...]) -> Case:
    findings = frozenset((match[1], match[2], number) for number, line in text for match in FINDING.finditer(line))
    other = frozenset(number for number, line in text if re.search(r"// other\b", line))
    checks = [match[1] for _, line in text if (match := re.match(r"// checks: (\w+)", line))]
    return Case(source, function, findings, other, checks[0] if checks else "all", archs)


def on_each_arch(cases: list[Case]) -> list[object]:
    """Each case on its architectures: by default on one of them, since each is another compilation."""
    return [
        pytest.param(
            case,
            arch,
            id=f"{case.source.stem}-{case.function.removesuffix('_run')}-{arch}",
            marks=() if arch == (372 if 372 in case.archs else case.archs[0]) else pytest.mark.thorough,
        )
        for case in cases
        for arch in case.archs
    ]


BROKEN = cases("broken")
CLEAN = cases("clean")


def run(case: Case, toolchain: Toolchain, device: Callable[[int], Device], arch: int, rules: str = "") -> Outcome:
    return device(arch).call(toolchain.compile(case.source, arch), case.function, checks=case.checks, rules=rules)


@pytest.mark.parametrize(("case", "arch"), on_each_arch(BROKEN))
def test_broken_kernel(case: Case, arch: int, toolchain: Toolchain, device: Callable[[int], Device]) -> None:
    """With every rule on, those too that are usually off because kernels get away with breaking them.

    What is unused is looked for in kernels that are about that: most of the others leave out all
    that they can.
    """
    rules = "all=fail" if case.source.stem == "unused" else "all=fail,unused=off"
    outcome = run(case, toolchain, device, arch, rules=rules)
    assert case.findings
    assert outcome.code == KERNEL_TRAP
    found = {(finding.checker, finding.rule, finding.line) for finding in outcome.findings}
    assert found == case.findings, outcome.report
    for finding in outcome.findings:
        assert str(case.source).endswith(finding.file)  # clang leaves the working folder out
        assert finding.kernel == case.function.removesuffix("_run")
        assert f"{finding.file}:{finding.line}" in outcome.report
        assert finding.message in outcome.report or finding.cause  # what follows is told by rule and line
        assert_named(finding)
    assert not ADDRESS.search(outcome.report), outcome.report
    if case.other:
        assert {finding.other_line for finding in outcome.findings} == case.other, outcome.report


def assert_named(finding: Finding) -> None:
    """What a finding is about has a name, if it lies on the device."""
    assert not any(ADDRESS.search(str(value)) for value in dataclasses.asdict(finding).values()), finding
    if finding.space not in ("", "host") and finding.allocation not in ("", "no allocation near it"):
        assert NAMES.search(finding.message), finding


@pytest.mark.parametrize(("case", "arch"), on_each_arch(CLEAN))
def test_clean_kernel(case: Case, arch: int, toolchain: Toolchain, device: Callable[[int], Device]) -> None:
    rules = "unused=fail" if case.source.stem == "unused" else ""
    outcome = run(case, toolchain, device, arch, rules=rules)
    assert not case.findings
    assert outcome.code == SUCCESS, outcome.report
    assert outcome.findings == []


FREES = """
#include "host.h"

extern "C" int free_twice() {
  void *memory = nullptr;
  cnrtMalloc(&memory, 64);
  cnrtFree(memory);
  return cnrtFree(memory);
}

extern "C" int free_the_middle() {
  char *memory = nullptr;
  cnrtMalloc(reinterpret_cast<void **>(&memory), 64);
  const int code = cnrtFree(memory + 8);
  cnrtFree(memory);
  return code;
}
"""


@pytest.mark.parametrize(("function", "rule"), [("free_twice", "double-free"), ("free_the_middle", "invalid-free")])
def test_freed_by_the_host(function: str, rule: str, toolchain: Toolchain, device: Callable[[int], Device]) -> None:
    outcome = device(372).call(toolchain.compile(FREES), function)
    assert outcome.code not in {SUCCESS, KERNEL_TRAP}
    assert [(finding.checker, finding.rule) for finding in outcome.findings] == [("memory", rule)]
    assert outcome.findings[0].message in outcome.report


def test_there_are_enough() -> None:
    broken: dict[str, int] = {}
    for case in BROKEN:
        for checker in {finding[0] for finding in case.findings}:
            broken[checker] = broken.get(checker, 0) + 1
    assert {checker for checker, count in broken.items() if count >= 4} >= {"memory", "init", "race", "sync", "align"}
    assert len(CLEAN) >= len([case for case in BROKEN if "machine" not in case.source.stem])
