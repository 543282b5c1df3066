"""Check that objects compiled for one instruction level share no function with objects of another level.

An inline function outside the namespace of the level, std::max for example, is emitted into every
object that uses it. The linker keeps one copy; if that is the AVX copy, an older CPU meets an
illegal instruction. So every function that such an object defines for others must carry the name of
the level.
"""

from __future__ import annotations

import argparse
import subprocess
import sys


def shared_functions(nm: str, level: str, objects: list[str]) -> list[str]:
    """Return the functions, by mangled name, that are visible outside the objects and do not carry the level."""
    command = [nm, "--defined-only", "--extern-only", "--format=posix", *objects]
    lines = subprocess.run(command, check=True, text=True, capture_output=True).stdout.splitlines()
    # A line is `name type value size`; `file:` stands before each object. T, W, i: strong, weak,
    # indirect functions.
    symbols = [line.split() for line in lines if not line.endswith(":")]
    return sorted({name for name, kind, *_ in symbols if kind in "TWi" and f"{len(level)}{level}" not in name})


def main() -> int:
    """Run the check on the objects named on the command line."""
    parser = argparse.ArgumentParser(description="Look for functions that objects of several levels share.")
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--level", required=True, help="name of the namespace, for example x86_64_v3")
    parser.add_argument("objects", nargs="+")
    arguments = parser.parse_args()
    found = shared_functions(arguments.nm, arguments.level, arguments.objects)
    for name in found:
        print(f"{name}: not in the namespace {arguments.level}")
    print(f"{len(arguments.objects)} objects of level {arguments.level}: {len(found)} functions outside its namespace")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
