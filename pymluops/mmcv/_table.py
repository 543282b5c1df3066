"""What works here: the table of ``python -m pymluops.mmcv``."""

from __future__ import annotations

import importlib.util
import textwrap
from importlib import metadata

from pymluops.mmcv._binding import Row
from pymluops.mmcv._extension import families, implemented
from pymluops.mmcv._install import compiled_extension
from pymluops.mmcv._names import MODULE_OF

#: The rows, those of each family together.
ROWS: tuple[Row, ...] = tuple(row for family in families() for row in family.ROWS)

#: What stands below the table.
_OTHER = "A name that only another release loads raises NotImplementedError when it is called."
_TYPES = (
    "A type that the kernel does not have is computed in float32 and rounded once, but float64 by a kernel in double, "
    "on the CPU."
)


def state() -> str:
    """Return in one line which mmcv is there and whether it needs this package."""
    if importlib.util.find_spec("mmcv") is None:
        return "mmcv is not installed: pip install mmcv-lite"
    version = "of unknown version"
    for distribution in ("mmcv-lite", "mmcv", "mmcv-full"):
        try:
            version = f"({distribution} {metadata.version(distribution)})"
            break
        except metadata.PackageNotFoundError:
            continue
    compiled = compiled_extension()
    if compiled:
        return (
            f"mmcv {version} has a compiled extension, {compiled}: install() leaves it alone, install(force=True) not"
        )
    return f"mmcv {version} has no compiled extension: install() provides mmcv._ext"


def render(width: int = 120) -> str:
    """Return the text."""
    head = ("operators of mmcv.ops", "dtypes", "directions", "computed by")
    lines = [(row.operators, row.dtypes, row.directions, row.library) for row in ROWS]
    widths = [max(len(line[i]) for line in (head, *lines)) for i in range(len(head))]
    table = ["  ".join(f"{text:{size}}" for text, size in zip(line, widths, strict=True)) for line in (head, *lines)]
    table.insert(1, "  ".join("-" * size for size in widths))
    notes = [f"{row.operators}: {row.note}" for row in ROWS if row.note]
    here = sum(name in MODULE_OF for name in implemented())
    ending = f"{here} of the {len(MODULE_OF)} functions that mmcv 2.2.0 loads are here. {_OTHER}"
    return "\n".join(
        [
            state(),
            "",
            *(line.rstrip() for line in table),
            "",
            *(_wrapped(f"- {note}", width, "  ") for note in (_TYPES, *notes)),
            "",
            _wrapped(ending, width),
        ]
    )


def _wrapped(text: str, width: int, indent: str = "") -> str:
    return textwrap.fill(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
