"""Builds the library of one family alone for the simulated MLU, with `bangcc`, from the sources.

    kernel_library.py FAMILY [--source FILE] [-o LIBRARY]

The library has the C ABI and the handle; of its operators only the family computes. `FILE` takes
the place of the family's bang.mlu, so that a changed kernel meets the test cases of the unchanged
one: ``pymluops case run CASES --library LIBRARY``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

NATIVE = Path(__file__).resolve().parents[1] / "native"
#: Host code that every library has, with the descriptors that stand with their families.
COMMON = ("core/*.cpp", "cases/*.cpp", "bang/*.cpp", "cpu/level.cpp", "ops/*/descriptor.cpp")
OPTIONS = (
    "-std=c++17", "-O1", "-g", "-fvisibility=hidden", '-DMLUOPS_LIBRARY_VERSION="0"', '-DMLUOPS_BANG_KIND="sim"',
)  # fmt: skip


def families() -> list[str]:
    """Return the families with kernels for the device."""
    return sorted(path.parent.name for path in NATIVE.glob("ops/*/bang.mlu"))


def host_sources(family: str) -> list[Path]:
    """Return the C++ files of the library."""
    patterns = (*COMMON, f"ops/{family}/*.cpp", f"ops/{family}/bang/*.cpp")
    found = dict.fromkeys(path for pattern in patterns for path in sorted(NATIVE.glob(pattern)))
    return [path for path in found if path.parent.name == "cpu" or not path.name.startswith("cpu")]


def build(family: str, source: Path, library: Path) -> int:
    """Compile and link; return the exit code of the compiler."""
    with tempfile.TemporaryDirectory() as folder:
        entries, cases = Path(folder) / "entries.c", Path(folder) / "case_entries.cpp"
        headers = [NATIVE / "include" / name for name in ("mlu_op.h", "mluops_ext.h")]
        generate: list[str | Path] = [sys.executable, NATIVE / "abi" / "generate.py", "--header", *headers]
        subprocess.run([*generate, "--entries", entries, "--case-entries", cases], check=True)
        include = [f"-I{path}" for path in (NATIVE, NATIVE / "include", NATIVE / "ops" / family)]
        placeholders = Path(folder) / "entries.o"
        bangcc = [sys.executable, "-m", "pymluops.bang.driver"]
        code = subprocess.run([*bangcc, "-c", "-O1", *include, entries, "-o", placeholders], check=False).returncode
        sources = [source, *host_sources(family), cases, placeholders]
        return code or subprocess.run([*bangcc, "-shared", *OPTIONS, *include, *sources, "-o", library]).returncode


def main(argv: list[str] | None = None) -> int:
    """Build the library."""
    parser = argparse.ArgumentParser(description="Build the library of one family alone for the simulated MLU.")
    parser.add_argument("family", choices=families(), metavar="FAMILY", help=", ".join(families()))
    parser.add_argument("--source", type=Path, metavar="FILE", help="kernels in place of the family's bang.mlu")
    parser.add_argument("-o", "--output", type=Path, metavar="LIBRARY", help="the library; lib<FAMILY>.so by default")
    options = parser.parse_args(argv)
    source = options.source or NATIVE / "ops" / options.family / "bang.mlu"
    return build(options.family, source, options.output or Path(f"lib{options.family}.so"))


if __name__ == "__main__":
    sys.exit(main())
