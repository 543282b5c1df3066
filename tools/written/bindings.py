"""What follows from pymluops/mmcv/<family>.py: the table in docs/mmcv.md."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any, NamedTuple

from written.tables import code, table


def rows(folder: Path) -> str:
    """Return the table that ``python -m pymluops.mmcv`` prints too, with the functions behind each operator."""
    kinds = {"Row": _row_type(folder / "_binding.py")}
    lines: list[tuple[str, ...]] = []
    for path in sorted(folder.glob("[a-z]*.py")):
        names = kinds | _values(path, ("__all__",), {})
        for row in _values(path, ("ROWS",), names)["ROWS"]:
            note = row.note.replace("|", "\\|")
            cells = _names(row.operators), code(row.functions), row.directions, row.dtypes, _library(row.library), note
            lines.append(cells)
    head = ("operators of `mmcv.ops`", "functions of `mmcv._ext`", "directions", "types", "computed by", "notes")
    return table(head, lines)


def _row_type(path: Path) -> Any:
    """Return the type of a row, whose module cannot be imported without the compiled package."""
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.ClassDef) and statement.name == "Row":
            found: dict[str, Any] = {"NamedTuple": NamedTuple, "__name__": __name__}
            exec(compile(ast.Module([statement], []), str(path), "exec"), found)
            return found["Row"]
    raise SystemExit(f"{path.name}: has no class Row")


def _values(path: Path, wanted: tuple[str, ...], names: dict[str, Any]) -> dict[str, Any]:
    """Return what a module assigns to some names."""
    found: dict[str, Any] = {}
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        value = getattr(statement, "value", None)
        if isinstance(target, ast.Name) and target.id in wanted and value is not None:
            found[target.id] = eval(compile(ast.Expression(value), str(path), "eval"), dict(names))
    if missing := [name for name in wanted if name not in found]:
        raise SystemExit(f"pymluops/mmcv/{path.name}: needs {missing[0]}")
    return found


def _names(text: str) -> str:
    """Return a text with the names in it as code: words with a capital or an underscore."""
    return re.sub(r"\b(?=\w*[A-Z_])[A-Za-z]\w*\*?", lambda found: f"`{found[0]}`", text)


def _library(text: str) -> str:
    """Return a text with C functions as code, of which a list leaves out what they begin with."""
    return re.sub(r"\bmlu\w+\*?(?:, [A-Z]\w*\*?)*", lambda found: code(found[0].split(", ")), text)
