#!/usr/bin/env python3
"""Write what follows from the descriptions in pymluops/ops: its exports, and the table of operators in the README.

    python3 tools/families.py [--check]

With ``--check`` nothing is written, and the exit status is 1 if a file is not current. The families are read without
the compiled part of the package.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
OPS = ROOT / "pymluops" / "ops"
BEGIN, END = "<!-- operators: written by tools/families.py -->", "<!-- end of operators -->"


@dataclass(frozen=True)
class Family:
    """One module of pymluops/ops."""

    name: str
    summary: str
    exports: tuple[str, ...]
    operators: tuple[Operator, ...]


class Operator:
    """Keeps what an operator is described with, in place of the compiled class."""

    def __init__(self, function: str, name: str, tensors: tuple[Any, ...], *_: object, **__: object) -> None:
        self.function, self.name, self.tensors = function, name, tensors

    def types(self) -> tuple[str, ...]:
        """Names of the types that its first array may have."""
        return tuple(sorted(_type_name(data_type) for data_type in self.tensors[0].dtype))


def family_names() -> list[str]:
    """Return the names of the modules that describe a family."""
    return sorted(path.stem for path in OPS.glob("*.py") if not path.stem.startswith("_"))


def read_families() -> list[Family]:
    """Import the families with a stand-in for the compiled module."""
    kept = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "pymluops"}
    for name in kept:
        del sys.modules[name]
    try:
        for name, folder in (("pymluops", OPS.parent), ("pymluops.ops", OPS)):
            sys.modules[name] = package = ModuleType(name)
            package.__path__ = [os.fspath(folder)]
        sys.modules["pymluops._core"] = core = ModuleType("pymluops._core")
        core.__getattr__ = lambda name: Operator if name == "Operator" else type(name, (), {})  # type: ignore[method-assign]
        return [_family(name, import_module(f"pymluops.ops.{name}")) for name in family_names()]
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "pymluops"]:
            del sys.modules[name]
        sys.modules.update(kept)


def _family(name: str, module: ModuleType) -> Family:
    summary = (module.__doc__ or "").split("\n", 1)[0].rstrip(".")
    operators = tuple(value for value in vars(module).values() if isinstance(value, Operator))
    if not summary or not operators:
        raise SystemExit(f"{name}: needs a docstring and an Operator at the top of the module")
    return Family(name, summary, tuple(module.__all__), operators)


def _type_name(data_type: Any) -> str:
    name = str(data_type.name)
    return {"HALF": "float16", "FLOAT": "float32", "DOUBLE": "float64"}.get(name, name.lower())


def exports(families: list[Family]) -> str:
    """Return the text of pymluops/ops/__init__.py."""
    lines = ['"""The operators, a module for each family."""', "", "# Written by tools/families.py; do not edit.", ""]
    for family in families:
        imported = sorted(family.exports, key=_import_order)
        line = f"from pymluops.ops.{family.name} import {', '.join(imported)}"
        if len(line) > 120:
            line = "\n".join([f"from pymluops.ops.{family.name} import (", *(f"    {name}," for name in imported), ")"])
        lines.append(line)
    names = sorted((name for family in families for name in family.exports), key=_import_order)
    return "\n".join([*lines, "", "__all__ = [", *(f'    "{name}",' for name in names), "]", ""])


def _import_order(name: str) -> tuple[bool, str]:
    return name[0].islower(), name


def table(families: list[Family]) -> str:
    """Return the rows of the README's table, between its markers."""
    rows = ["| Python | computes | types | C |", "| --- | --- | --- | --- |"]
    for family in families:
        python = _shortened([operator.name for operator in family.operators], r"_?[a-z0-9]+")
        functions = _shortened([operator.function for operator in family.operators], r"[A-Z]?[a-z0-9]+|[A-Z]+")
        types = sorted({name for operator in family.operators for name in operator.types()})
        rows.append(f"| {python} | {family.summary} | {', '.join(types)} | {functions} |")
    return "\n".join([BEGIN, *rows, END])


def _shortened(names: list[str], word: str) -> str:
    """Return the names as code, all but the first without the words that they begin with like the first."""
    first, *others = (re.findall(word, name) for name in names)
    texts = [names[0]]
    for words in others:
        same = 0
        while same < min(len(words) - 1, len(first)) and words[same] == first[same]:
            same += 1
        texts.append("".join(words[same:]))
    return ", ".join(f"`{text}`" for text in texts)


def written() -> dict[Path, str]:
    """Return the text that each file should have."""
    families = read_families()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    before, found, rest = readme.partition(BEGIN)
    if not found or END not in rest:
        raise SystemExit("README.md: has no markers of the table of operators")
    return {
        OPS / "__init__.py": exports(families),
        ROOT / "README.md": before + table(families) + rest.split(END, 1)[1],
    }


def stale() -> list[Path]:
    """Return the files that are not current."""
    return [path for path, text in written().items() if path.read_text(encoding="utf-8") != text]


def main() -> int:
    """Write the files, or check them."""
    parser = argparse.ArgumentParser(description="Write what follows from the descriptions of the operators.")
    parser.add_argument("--check", action="store_true", help="only tell which files are not current")
    if parser.parse_args().check:
        old = stale()
        for path in old:
            print(f"{path.relative_to(ROOT)}: is not current; run tools/families.py", file=sys.stderr)
        return 1 if old else 0
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
