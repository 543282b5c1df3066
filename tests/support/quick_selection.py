"""The parts of families and of tests that compile which the quick selection runs.

At most `WHOLE` families that changed run whole, by what git says of the clone. Of each other family
one test of each test function and operator runs, so that no function loses its values and its
refusals. Of the tests that compile C++, one of each test function runs, and a sixth of the others
if the code that they test has changed. The number of commits has no influence.
"""

from __future__ import annotations

import re
import subprocess
import zlib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: The number of families that run whole, and the share of the tests that compile, one in this many.
#: CONTRIBUTING.md has their seconds.
WHOLE, COMPILING = 2, 6
#: Folders with the code that the tests that compile are about, and with these tests.
COMPILED = (
    "native/bang/",
    "native/sim/",
    "native/workbench/",
    "pymluops/bang/",
    "pymluops/sim/",
    "tests/bang/",
    "tests/judge/",
    "tests/kernels/",
)
#: The branches that changes are told from.
BASES = ("origin/HEAD", "origin/main", "main")


def left_out(items: Collection[pytest.Item], operators: Mapping[str, Mapping[str, str]]) -> set[pytest.Item]:
    """Return the tests that the selection leaves out.

    `operators` has the names of each family's operators, in Python and C.
    """
    files = changed_files()
    compiling = of_compiling(items, any(file.startswith(COMPILED) for file in files))
    return _of_families(items, operators, files) | compiling


def of_compiling(items: Iterable[pytest.Item], changed: bool) -> set[pytest.Item]:
    """Return the tests that compile, but for one of each test function and, if `changed`, a sixth of the others."""
    functions: set[str] = set()
    result = set()
    for item in sorted(items, key=_checksum):
        if item.get_closest_marker("compiler"):
            function = item.nodeid.partition("[")[0]
            if function in functions and not (changed and _checksum(item) % COMPILING == 0):
                result.add(item)
            functions.add(function)
    return result


def _checksum(item: pytest.Item) -> int:
    return zlib.crc32(item.nodeid.encode())


def _of_families(
    items: Iterable[pytest.Item], operators: Mapping[str, Mapping[str, str]], files: Iterable[str]
) -> set[pytest.Item]:
    changed = {family for file in files if (family := family_of(file, operators)) is not None}
    return of_families(items, operators, sorted(changed)[:WHOLE])


def of_families(
    items: Iterable[pytest.Item], operators: Mapping[str, Mapping[str, str]], whole: Collection[str]
) -> set[pytest.Item]:
    """Return the tests of families that are not `whole`, but for one of each test function and operator."""
    owners = _Owners(operators)
    owned = {item: owner for item in items if (owner := owners.of(item.nodeid)) is not None}
    others = [item for item, (family, _) in owned.items() if family not in whole]
    kept: dict[tuple[str, str], pytest.Item] = {}
    for item in sorted(others, key=_checksum):
        kept.setdefault((item.nodeid.partition("[")[0], owned[item][1]), item)
    return set(others) - set(kept.values())


class _Owners:
    """Knows the family and the operator that the name of a test has in it."""

    def __init__(self, operators: Mapping[str, Mapping[str, str]]) -> None:
        self._owners: dict[str, tuple[str, str]] = {}
        for family, functions in operators.items():
            self._owners[family] = family, ""
            self._owners["".join(word.capitalize() for word in family.split("_"))] = family, ""
            for name, function in functions.items():
                self._owners[name] = self._owners[function.removeprefix("mluOp")] = family, name
        # Of names that begin like others the longest, and no part of another word. A C function may
        # have more words.
        names = sorted(self._owners, key=len, reverse=True)
        snake = "|".join(name for name in names if name.islower())
        camel = "|".join(name for name in names if not name.islower())
        self._pattern = re.compile(
            f"(?<![a-z])(?P<snake>{snake})(?![a-z])|"
            f"(?P<before>[A-Za-z]*?)(?P<camel>{camel})(?P<behind>(?:[A-Z][A-Za-z]*)?)(?![a-z])"
        )

    def of(self, name: str) -> tuple[str, str] | None:
        function, _, parameters = name.partition("[")
        found = self._pattern.search(parameters) or self._pattern.search(function)
        if found is None:
            return None
        family, operator = self._owners[found["snake"] or found["camel"]]
        if found["camel"] and found[0].removeprefix("mluOp") != found["camel"]:
            operator = found[0].removeprefix("mluOp")  # for its workspace, or in double
        return family, operator


def changed_files(root: Path = ROOT) -> list[str]:
    """Return the files that differ from the main branch or, on that branch, from the commit before."""
    if _git(root, "rev-parse", "--show-toplevel") != [str(root)]:
        return []  # no clone, or part of another
    head = _git(root, "rev-parse", "HEAD")
    base = next((base for name in BASES if (base := _git(root, "merge-base", "HEAD", name))), head)
    if base == head:
        base = _git(root, "rev-parse", "--verify", "--quiet", "HEAD~1") or head
    return [*_git(root, "diff", "--name-only", *base), *_git(root, "ls-files", "--others", "--exclude-standard")]


def family_of(file: str, families: Collection[str]) -> str | None:
    """Return the family whose name a file or one of its folders has, alone or with more words behind."""
    path = PurePosixPath(file)
    words = [*path.parts[:-1], path.stem.removeprefix("test_")]
    found = [name for name in families if any(word == name or word.startswith(f"{name}_") for word in words)]
    return max(found, key=len, default=None)


def _git(root: Path, *arguments: str) -> list[str]:
    """Return the lines that git prints, none if it fails or is not installed."""
    try:
        command = ["git", "-C", str(root), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []
