"""Reading the families, with stand-ins for the compiled module and for PyTorch."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OPS = ROOT / "pymluops" / "ops"


@dataclass(frozen=True)
class Family:
    """One module of pymluops/ops."""

    name: str
    summary: str
    exports: tuple[str, ...]
    operators: tuple[Operator, ...]
    source: ast.Module


class Operator:
    """Keeps what an operator is described with, in place of the compiled class."""

    def __init__(
        self,
        function: str,
        name: str,
        tensors: tuple[Any, ...],
        scalars: tuple[Any, ...] = (),
        *,
        workspace: str | None = None,
        too_large: type | None = None,
    ) -> None:
        self.function, self.name, self.tensors, self.scalars = function, name, tensors, scalars
        self.workspace, self.too_large = workspace, too_large

    def types(self) -> tuple[str, ...]:
        """Names of the types that its first array may have."""
        return tuple(sorted(_type_name(data_type) for data_type in self.tensors[0].dtype))


def family_names() -> list[str]:
    """Return the names of the modules that describe a family."""
    return sorted(path.stem for path in OPS.glob("*.py") if not path.stem.startswith("_"))


@contextmanager
def _stand_ins(stand_ins: Mapping[str, Any]) -> Generator[None]:
    """Let modules of the package be imported anew: from compiled ones and PyTorch they get stand-ins, or classes."""

    def attribute(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return stand_ins.get(name) or type(name, (), {})

    tops = {"pymluops", "torch"}
    kept = {name: module for name, module in sys.modules.items() if name.split(".")[0] in tops}
    for name in kept:
        del sys.modules[name]
    try:
        for name in ("pymluops", "pymluops.ops", "pymluops.torch"):
            sys.modules[name] = package = ModuleType(name)
            package.__path__ = [os.fspath(ROOT / name.replace(".", "/"))]
        own = (f"pymluops.torch.{path.stem}" for path in (ROOT / "pymluops" / "torch").glob("_*.py"))
        for name in ("pymluops._core", "torch", "torch.nn", "torch.optim", *own):
            sys.modules[name] = module = ModuleType(name)
            module.__getattr__ = attribute  # type: ignore[method-assign]
        yield
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] in tops]:
            del sys.modules[name]
        sys.modules.update(kept)


def import_with_stand_ins(name: str, stand_ins: Mapping[str, Any]) -> ModuleType:
    """Import a module whose imports from compiled modules, PyTorch and helpers around it are other objects."""
    with _stand_ins({"Operator": Operator, **stand_ins}):
        return import_module(name)


def read_families() -> list[Family]:
    """Import the families with a stand-in for the compiled module."""
    with _stand_ins({"Operator": Operator}):
        return [_family(name, import_module(f"pymluops.ops.{name}")) for name in family_names()]


def _family(name: str, module: ModuleType) -> Family:
    summary = (module.__doc__ or "").split("\n", 1)[0].rstrip(".")
    operators = tuple(value for value in vars(module).values() if isinstance(value, Operator))
    if not summary or not operators:
        raise SystemExit(f"{name}: needs a docstring and an Operator at the top of the module")
    source = ast.parse((OPS / f"{name}.py").read_text(encoding="utf-8"))
    return Family(name, summary, tuple(module.__all__), operators, source)


def _type_name(data_type: Any) -> str:
    name = str(data_type.name)
    return {"HALF": "float16", "FLOAT": "float32", "DOUBLE": "float64"}.get(name, name.lower())
