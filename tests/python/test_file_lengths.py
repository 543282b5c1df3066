"""Source files stay short, at most 500 lines, and so do their lines: 120 columns, 100 for comments and docstrings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES = 500
MOST_COLUMNS = 120
#: Of comments and docstrings; but the first line of a docstring, code in texts and comments behind
#: code may use all columns.
MOST_TEXT_COLUMNS = 100
FOLDERS = ("benchmarks", "cmake", "docs", "examples", "native", "pymluops", "tests", "tools")
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


# ---- Columns -------------------------------------------------------------------------------------

#: A comment alone in its line, in C++, Python and Cython.
COMMENT = re.compile(r"\s*(?://|/?\*(?: |$)|#:? )")
#: Code that a comment ends which a tool reads.
PRAGMA = re.compile(r"# (?:type: ignore|noqa|pyright:)|// NOLINT|clang-format o|# fmt: o")
#: Code in a comment or a docstring: indented behind the marker, a doctest, or a regular expression.
CODE_IN_TEXT = re.compile(r"\s*(?://|\*|#)\s{3,}\S|\s*(?:>>>|\.\.\.|\|) ")
#: Generated files, and kernels that a document quotes.
WIDE = ("native/sim/include/mlusim/lacking.h", "pymluops/functions/", "examples/tutorial/")
CODE = {".c", ".cpp", ".h", ".mlu", ".pxi", ".py", ".pyx"}


def text_lines(path: Path, lines: list[str]) -> set[int]:
    """The numbers of lines that are comments, or in a docstring behind its first line."""
    if path.suffix not in {".py", ".pxi", ".pyx"}:
        return {number for number, line in enumerate(lines) if COMMENT.match(line)}
    found, inside, is_text = set(), False, False
    for number, line in enumerate(lines):
        if inside:
            found |= {number} if is_text else set()
        elif COMMENT.match(line):
            found.add(number)
        if line.count('"""') % 2:
            is_text = line.lstrip("rR ").startswith('"""') and "cdef extern from" not in (
                lines[number - 1] if number else ""
            )
            inside = not inside
    return found


def wide_lines(path: Path) -> list[int]:
    """The numbers of the lines of a file that are wider than allowed, from 1."""
    lines = path.read_text(encoding="utf-8").splitlines()
    text = {number for number in text_lines(path, lines) if CODE_IN_TEXT.match(lines[number]) is None}
    widths = (MOST_TEXT_COLUMNS if number in text else MOST_COLUMNS for number in range(len(lines)))
    wide = (len(line) > width and PRAGMA.search(line) is None for line, width in zip(lines, widths, strict=True))
    return [number for number, is_wide in enumerate(wide, 1) if is_wide]


def test_wide_lines_are_found(tmp_path: Path) -> None:
    for name, line in (("a.cpp", "  // {}"), ("b.py", "    # {}"), ("c.pxi", "    #: {}"), ("d.h", " * {}")):
        text = [
            line.format("x" * (100 - len(line) + 2)),
            line.format("x" * (100 - len(line) + 3)),
            "y" * 120,
            "y" * 121,
        ]
        (tmp_path / name).write_text("\n".join(text), encoding="utf-8")
        assert wide_lines(tmp_path / name) == [2, 4]
    doc = [
        '"""' + "x" * 117,
        "",
        "x" * 100,
        "x" * 101,
        '"""',
        "x" * 120,
        "x" * 121,
        "x" * 121 + "  # type: ignore[call]",
    ]
    (tmp_path / "e.py").write_text("\n".join(doc), encoding="utf-8")
    assert wide_lines(tmp_path / "e.py") == [4, 7]


@pytest.mark.parametrize("folder", FOLDERS)
def test_lines_are_narrow(folder: str) -> None:
    files = [path for path in source_files(ROOT / folder) if path.suffix in CODE]
    names = {path: path.relative_to(ROOT).as_posix() for path in files}
    found = {name: wide_lines(path) for path, name in names.items() if not name.startswith(WIDE)}
    assert {name: lines for name, lines in found.items() if lines} == {}
