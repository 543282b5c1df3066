"""Imports inside the package, those for types too: no circle; one way between ``library``, ``sim`` and ``_core``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "pymluops"
CYTHON_IMPORT = re.compile(
    r"^\s*from (pymluops[\w.]*) c?import (\([^)]*\)|.+)$|^\s*c?import (pymluops[\w.]*)", re.MULTILINE
)


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def files() -> dict[str, list[Path]]:
    """The files of each module: its source and its stub. The compiled module is made of several."""
    found: dict[str, list[Path]] = {}
    for path in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")]):
        found.setdefault(module_name(path), []).append(path)
    found["pymluops._core"] += sorted([*PACKAGE.glob("_core/*.pyx"), *PACKAGE.glob("_core/*.pxi")])
    return found


FILES = files()


def imported_at(node: ast.Import | ast.ImportFrom, module: str, path: Path) -> Iterator[str]:
    """The modules of the package that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    base = node.module or ""
    if node.level:
        package = module if path.stem == "__init__" else module.rpartition(".")[0]
        for _ in range(node.level - 1):
            package = package.rpartition(".")[0]
        base = f"{package}.{base}" if base else package
    for alias in node.names:
        submodule = f"{base}.{alias.name}"
        yield submodule if submodule in FILES else base


def statements(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports anywhere in a module, functions and what only types need included."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child
        else:
            yield from statements(child)


def of_python(module: str, path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {name for node in statements(tree) for name in imported_at(node, module, path)}


def of_cython(path: Path) -> set[str]:
    found: set[str] = set()
    for base, names, whole in CYTHON_IMPORT.findall(path.read_text(encoding="utf-8")):
        for name in names.strip("()").split(","):
            submodule = f"{base}.{name.strip()}"
            found.add(whole or (submodule if submodule in FILES else base))
    return found


def graph() -> dict[str, set[str]]:
    edges: dict[str, set[str]] = {}
    for module, paths in FILES.items():
        found = [of_python(module, path) if path.suffix in (".py", ".pyi") else of_cython(path) for path in paths]
        edges[module] = {name for names in found for name in names if name in FILES and name != module}
    return edges


def circle_in(edges: dict[str, set[str]]) -> list[str]:
    """Modules that import one another in a circle, the first one again at the end; empty if there is no circle."""
    done: set[str] = set()

    def visit(module: str, path: list[str]) -> list[str]:
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return []
        for name in sorted(edges[module]):
            found = visit(name, [*path, module])
            if found:
                return found
        done.add(module)
        return []

    return next((found for module in sorted(edges) if (found := visit(module, []))), [])


def reached(module: str, edges: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [module]
    while waiting:
        new = edges[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def test_circles_are_found() -> None:
    assert circle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert circle_in({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_imports_are_found() -> None:
    edges = graph()
    assert "pymluops.errors" in edges["pymluops._core"]
    assert {"pymluops._core", "pymluops.sim"} <= edges["pymluops.library"]
    assert "pymluops.sim.translator.tokens" in edges["pymluops.sim.translator.scopes"]
    assert "pymluops._finding" in edges["pymluops.errors"]  # for types only
    assert "pymluops._typing" in edges["pymluops._core"]  # in the stub only


def test_there_is_no_circle() -> None:
    assert circle_in(graph()) == []


def test_library_is_above_sim_and_sim_above_core() -> None:
    edges = graph()
    simulator = {module for module in FILES if module.startswith("pymluops.sim")}
    assert reached("pymluops._core", edges) & (simulator | {"pymluops.library"}) == set()
    assert all("pymluops.library" not in reached(module, edges) for module in simulator)
