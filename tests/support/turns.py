"""What the quick selection runs by turns: families of operators, and tests that compile.

Of the families, some run whole: those that changed come first, by what git says of the clone, then
the others by turns. Of each other family a test of each test function and operator runs, so that no
function loses its values and its refusals. While there are at most `WHOLE` families, all of them
run whole. Of the tests that compile C++, one of each test function runs, and of the others a
sixth, whose turn it is; a third of them if what they try has changed.

The number of commits chooses whose turn it is.
"""

from __future__ import annotations

import re
import subprocess
import zlib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: So many families run whole, and one in so many of the tests that compile. CONTRIBUTING.md has
#: their seconds.
WHOLE, COMPILING = 2, 6
#: What the tests that compile are about.
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
    """Return the tests whose turn it is not. `operators` has the names of each family's operators, in Python and C."""
    files, turn = changed_files(), number_of_commits()
    compiling = of_compiling(items, turn)
    if any(file.startswith(COMPILED) for file in files):
        compiling &= of_compiling(items, turn + 1)
    return _of_families(items, operators, files, turn) | compiling


def of_compiling(items: Iterable[pytest.Item], turn: int) -> set[pytest.Item]:
    """Return the tests that compile whose turn it is not, but for one of each test function."""
    functions: set[str] = set()
    found = set()
    for item in sorted(items, key=_checksum):
        if item.get_closest_marker("compiler"):
            function = item.nodeid.partition("[")[0]
            if function in functions and _checksum(item) % COMPILING != turn % COMPILING:
                found.add(item)
            functions.add(function)
    return found


def _checksum(item: pytest.Item) -> int:
    return zlib.crc32(item.nodeid.encode())


def _of_families(
    items: Iterable[pytest.Item], operators: Mapping[str, Mapping[str, str]], files: Iterable[str], turn: int
) -> set[pytest.Item]:
    owners = _Owners(operators)
    present = {owner[0] for item in items if (owner := owners.of(item.nodeid)) is not None}
    changed = {family for file in files if (family := family_of(file, operators)) is not None}
    return of_families(items, operators, with_turn(present, changed, turn))


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


def with_turn(families: Collection[str], changed: Collection[str], turn: int) -> set[str]:
    """Return `WHOLE` of the families: those that changed, then the next ones at each turn."""
    names = sorted(families)
    start = turn * WHOLE % max(len(names), 1)
    names = names[start:] + names[:start]
    names.sort(key=lambda name: name not in changed)
    return set(names[:WHOLE])


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


def number_of_commits(root: Path = ROOT) -> int:
    """Return how many commits the clone has, 0 where there is no clone."""
    return int(next(iter(_git(root, "rev-list", "--count", "HEAD")), "0"))


def _git(root: Path, *arguments: str) -> list[str]:
    """Return the lines that git prints, none if it fails or is not installed."""
    try:
        command = ["git", "-C", str(root), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []
