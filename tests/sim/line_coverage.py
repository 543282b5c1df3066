"""Which lines of the BANG C kernels ran: sums up what a build with MLUOPS_COVERAGE=ON left in its folder.

A line counts as run if it did in any of the compilations for the architectures. Prints a table with
the lines that never ran, and fails below ``--at-least`` percent.
"""

from __future__ import annotations

import argparse
import collections
import json
import subprocess
import sys
from pathlib import Path

Lines = dict[str, dict[int, int]]


def read(folder: Path) -> Lines:
    """How often each line of each .mlu file ran."""
    found: Lines = collections.defaultdict(lambda: collections.defaultdict(int))
    for data in sorted(folder.rglob("*.gcda")):
        command = ["gcov", "--json-format", "--stdout", str(data)]
        text = subprocess.run(command, cwd=data.parent, check=True, capture_output=True, text=True).stdout
        for document in text.splitlines():
            for file in json.loads(document)["files"]:
                if file["file"].endswith(".mlu"):
                    for line in file["lines"]:
                        found[file["file"]][line["line_number"]] += line["count"]
    return found


def missing(lines: dict[int, int]) -> str:
    """The lines that never ran, neighbours as ranges."""
    ranges: list[list[int]] = []
    for number in sorted(number for number, count in lines.items() if count == 0):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the build folder")
    parser.add_argument("--at-least", type=float, default=0.0, help="percent of the lines of each file")
    options = parser.parse_args()
    files = read(options.folder)
    if not files:
        print(f"no counts of .mlu files in {options.folder}", file=sys.stderr)
        return 1
    enough = True
    for file, lines in sorted(files.items()):
        ran = sum(count > 0 for count in lines.values())
        percent = 100.0 * ran / len(lines)
        enough = enough and percent >= options.at_least
        print(f"{percent:6.1f} %  {ran:4} of {len(lines):4} lines  {file}  {missing(lines)}")
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
