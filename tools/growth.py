#!/usr/bin/env python3
"""Tell what each family of operators costs, and what sixty of them would.

    CCACHE_DISABLE=1 python3 -m pip install .                 # compiles into build/<tag>
    python3 -m pytest --junitxml tests.xml                    # or another selection
    python3 tools/growth.py build/<tag> --tests tests.xml

Seconds of the compiler are those in ninja's log, where two commands run at a time; tests run one by
one. Both hold for a machine that does nothing else. The budget of a family is in CONTRIBUTING.md.
"""

from __future__ import annotations

import argparse
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FORECAST = 60
#: Numbers of a family, with their unit; the rest of the project has them too.
COLUMNS = ("seconds of compiler", "KiB of objects", "tests", "seconds of tests")


def families() -> list[str]:
    """Return the names of the families that have native code."""
    return sorted(path.name for path in (ROOT / "native" / "ops").iterdir() if path.is_dir())


def owner(names: list[str]) -> Callable[[str], str]:
    """Return a function that tells whose name a text has in it, as a path or the name of a test has; "" if nobody's."""
    words = {name: name for name in names} | {name.replace("_", ""): name for name in names}
    ordered = sorted(words, key=len, reverse=True)
    pattern = re.compile(rf"(?<![a-z])(?:(?:mluop|mluopsext)?(?:get)?)({'|'.join(map(re.escape, ordered))})")

    def owner_of(text: str) -> str:
        found = pattern.search(text.lower())
        return words[found[1]] if found else ""

    return owner_of


def compiled(folder: Path, owner_of: Callable[[str], str]) -> tuple[Counter[str], Counter[str]]:
    """Return the seconds of compilation and the KiB of objects by family."""
    took: dict[str, float] = {}
    for line in (folder / ".ninja_log").read_text(encoding="utf-8").splitlines()[1:]:
        start, end, _, output, *_ = line.split("\t")
        took[output] = (int(end) - int(start)) / 1000  # the last time counts
    seconds: Counter[str] = Counter()
    size: Counter[str] = Counter()
    for output, time in took.items():
        path = folder / output
        if path.exists():
            seconds[owner_of(output)] += time  # type: ignore[assignment]
            size[owner_of(output)] += path.stat().st_size // 1024 if path.suffix == ".o" else 0
    return seconds, size


def tested(report: Path, owner_of: Callable[[str], str]) -> tuple[Counter[str], Counter[str]]:
    """Return the number of tests and their seconds by family."""
    number: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    for case in ElementTree.parse(report).iter("testcase"):
        name, module = case.get("name", ""), case.get("classname", "")
        family = owner_of(name.partition("[")[2]) or owner_of(f"{module}.{name}")
        number[family] += 1
        seconds[family] += float(case.get("time", 0))  # type: ignore[assignment]
    return number, seconds


def table(names: list[str], columns: list[Counter[str]]) -> str:
    """Return the rows of all families, of the rest, and the sum for sixty families like these."""
    rows = [["family", *COLUMNS[: len(columns)]], ["---"] * (len(columns) + 1)]
    rows += [[name, *(f"{column[name]:.1f}" for column in columns)] for name in names]
    rows.append(["all others", *(f"{column['']:.1f}" for column in columns)])
    sums = [sum(column[name] for name in names) / len(names) * FORECAST + column[""] for column in columns]
    rows.append([f"{FORECAST} families and all others", *(f"{total:.0f}" for total in sums)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Tell what each family of operators costs.")
    parser.add_argument("build", type=Path, help="a folder in which ninja has compiled everything")
    parser.add_argument("--tests", type=Path, metavar="XML", help="what pytest --junitxml wrote")
    options = parser.parse_args()
    names = families()
    columns = [*compiled(options.build, owner(names))]
    if options.tests is not None:
        columns += tested(options.tests, owner(names))
    print(table(names, columns))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
