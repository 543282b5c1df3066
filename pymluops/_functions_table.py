"""``pymluops info --functions``: which functions of the C ABI each library implements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pymluops import library
from pymluops._core import Backend, function_names
from pymluops._shown import counted
from pymluops.cli import CommandError
from pymluops.errors import MluOpError

__all__ = ["collect", "render"]


def collect(names: Sequence[str]) -> dict[str, Any]:
    """Return what ``--json`` prints: the files of the libraries, and for each function what each library says."""
    labelled = _labelled(_opened(names))
    return {
        "libraries": {label: backend.path for label, backend in labelled.items()},
        "functions": {
            function: {label: backend.implements(function) for label, backend in labelled.items()}
            for function in function_names()
        },
    }


def render(table: dict[str, Any]) -> str:
    """Return the text for people."""
    labels, functions = list(table["libraries"]), table["functions"]
    width = max(map(len, functions))
    lines = [f"{label:<8}  {path}" for label, path in table["libraries"].items()]
    lines += ["", _row("", labels, labels, width)]
    for function, implemented in functions.items():
        lines.append(_row(function, ["yes" if implemented[label] else "-" for label in labels], labels, width))
    counts = [str(sum(row[label] for row in functions.values())) for label in labels]
    lines.append(_row(counted(len(functions), "function"), counts, labels, width))
    return "\n".join(lines)


def _opened(names: Sequence[str]) -> list[Backend]:
    if names:
        # The same library twice would give the same column twice.
        return list(dict.fromkeys(map(_open, names)))
    infos = library.backends()
    found = [library.load(name) for name, info in infos.items() if info.available]
    if not found:
        raise CommandError(f"no library can be used: {infos['cpu'].reason}")
    return found


def _open(name: str) -> Backend:
    try:
        return library.load(name)
    except MluOpError as error:
        raise CommandError(f"--functions {name}: {error.detail}") from None


def _labelled(backends: list[Backend]) -> dict[str, Backend]:
    """Return the libraries by the name of their column; files of the same name by their paths."""
    uses = Counter(backend.name for backend in backends)
    return {backend.name if uses[backend.name] == 1 else backend.path: backend for backend in backends}


def _row(first: str, cells: list[str], labels: list[str], width: int) -> str:
    padded = [f"{cell:<{max(len(label), 3)}}" for cell, label in zip(cells, labels, strict=True)]
    return "  ".join([f"{first:<{width}}", *padded]).rstrip()
