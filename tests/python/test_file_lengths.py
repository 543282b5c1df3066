"""Source files stay short: one subject each, at most 500 lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES = 500
FOLDERS = ("benchmarks", "cmake", "examples", "native", "pymluops", "tests", "tools")
SUFFIXES = {".c", ".cmake", ".cpp", ".h", ".mlu", ".pxi", ".py", ".pyi", ".pyx", ".txt"}
#: The vendor's header, and what is generated.
EXEMPT = {
    "native/include/mlu_op.h",
    "native/sim/include/mlusim/lacking.h",
    "pymluops/enums.py",
    "pymluops/functions/__init__.pyi",
    "pymluops/functions/_signatures.py",
    "pymluops/ops/_types.pyi",
}


def source_files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.suffix in SUFFIXES and path.is_file())


def too_long(folder: Path) -> dict[str, int]:
    """The files of more lines than allowed, and how many they have."""
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in source_files(folder)}
    return {str(path): count for path, count in lengths.items() if count > MOST_LINES}


def test_long_files_are_found(tmp_path: Path) -> None:
    for name, count in (("long.cpp", MOST_LINES + 1), ("short.cpp", MOST_LINES), ("data.bin", MOST_LINES + 1)):
        (tmp_path / name).write_text("\n" * count, encoding="utf-8")
    assert too_long(tmp_path) == {str(tmp_path / "long.cpp"): MOST_LINES + 1}


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_are_short(folder: str) -> None:
    assert any(source_files(ROOT / folder))
    found = {str(Path(name).relative_to(ROOT)): count for name, count in too_long(ROOT / folder).items()}
    assert {name: count for name, count in found.items() if name not in EXEMPT} == {}


def test_the_exempt_files_exist() -> None:
    assert [name for name in EXEMPT if not (ROOT / name).is_file()] == []
