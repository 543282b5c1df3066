"""What works here: the table of ``python -m pymluops.mmcv``."""

from __future__ import annotations

import importlib.util
import textwrap
from importlib import metadata

from pymluops.mmcv._binding import Row
from pymluops.mmcv._extension import families, implemented
from pymluops.mmcv._install import compiled_extension
from pymluops.mmcv._names import FUNCTIONS, TORCHVISION

#: The rows, those of each family together.
ROWS: tuple[Row, ...] = tuple(row for family in families() for row in family.ROWS)

#: What stands below the table.
_MISSING = "These functions raise NotImplementedError when they are called and say what to install."
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
    other = [name for names in FUNCTIONS.values() for name in names if name not in implemented()]
    alike = ", ".join(sorted(set(TORCHVISION.values())))
    paragraphs = [
        f"{len(other)} functions of {len(other) + len(implemented())} are not here: {', '.join(other)}.",
        f"{_MISSING} torchvision has {alike}.",
    ]
    return "\n".join(
        [
            state(),
            "",
            *(line.rstrip() for line in table),
            "",
            *(_wrapped(f"- {note}", width, "  ") for note in (_TYPES, *notes)),
            "",
            *(_wrapped(text, width) for text in paragraphs),
        ]
    )


def _wrapped(text: str, width: int, indent: str = "") -> str:
    return textwrap.fill(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
