"""Public names of the package, read from its sources."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["PACKAGES", "READERS", "ROOT", "Member", "Name", "document_of", "exports", "name_of", "public_names"]

ROOT = Path(__file__).resolve().parents[2]

#: The modules that users import names from, and what their pages are called.
PACKAGES = {
    "pymluops": "The package",
    "pymluops.errors": "Errors",
    "pymluops.enums": "Enums",
    "pymluops.functions": "Every C function",
    "pymluops.torch": "PyTorch",
    "pymluops.torch.sparse": "Sparse convolutions for PyTorch",
    "pymluops.mmcv": "mmcv",
    "pymluops.dropins": "Packages of others",
    "pymluops.bang": "Kernels of your own",
    "pymluops.bang.judging": "Judging kernels",
    "pymluops.bang.testing": "Testing kernels with pytest",
    "pymluops.bang.coverage": "Coverage of kernels",
    "pymluops.bang.notebook": "Kernels in a notebook",
    "pymluops.sim": "The simulator",
    "pymluops.sim.profiler": "Profiles",
    "pymluops.sim.toolchain": "The compiler of the simulator",
    "pymluops.gencase": "Test cases",
    "pymluops.oracle": "Oracles",
}
#: For whom the pages of these modules are.
READERS = {
    "pymluops": "call operators on arrays, and choose libraries and threads",
    "pymluops.errors": "catch the errors that the package raises",
    "pymluops.enums": "pass settings by name, or compare types and statuses",
    "pymluops.functions": "call functions of the C ABI from Python",
    "pymluops.torch": "build networks with PyTorch",
    "pymluops.torch.sparse": "build sparse networks with PyTorch",
    "pymluops.mmcv": "have programs that import ``mmcv._ext``",
    "pymluops.dropins": "have programs that import ``spconv`` or another compiled extension",
    "pymluops.bang": "write kernels in BANG C and call them from Python",
    "pymluops.bang.judging": "grade kernels that other people or programs wrote",
    "pymluops.bang.testing": "test kernels with pytest",
    "pymluops.bang.coverage": "ask which lines of a kernel ran",
    "pymluops.bang.notebook": "write kernels in a notebook",
    "pymluops.sim": "choose a device model, checkers or a schedule of the simulator",
    "pymluops.sim.profiler": "ask where the time of a kernel goes",
    "pymluops.sim.toolchain": "compile whole programs in BANG C",
    "pymluops.gencase": "read, write, run and compare test cases in the vendor's format",
    "pymluops.oracle": "compare results of operators with values that are computed in another way",
}
_COMPILED = ROOT / "pymluops" / "_core"
#: Names that a module gives when it is asked for them, and where they are.
_LAZY = {
    "pymluops": {
        "install": "pymluops.dropins",
        "uninstall": "pymluops.dropins",
        **dict.fromkeys(
            ("AdamWDescriptor", "CarafeDescriptor", "DCNDescriptor", "FFTPlan", "NmsDescriptor"), "pymluops.functions"
        ),
        **dict.fromkeys(
            ("RoiAlignForwardDescriptor", "SeqDataDescriptor", "TensorSetDescriptor"), "pymluops.functions"
        ),
    }
}


@dataclass(frozen=True)
class Member:
    """A method or property of a class, or a member of an enum."""

    name: str
    kind: str
    signature: str
    document: str


@dataclass(frozen=True)
class Name:
    """A public name: what it is, how it is called, and its docstring."""

    name: str
    kind: str
    signature: str
    document: str
    members: tuple[Member, ...] = ()
    module: str = ""


@cache
def _tree(module: str) -> tuple[ast.Module, bool] | None:
    """Return the syntax of a module, and whether it is a package; None if it is none of ours."""
    base = ROOT.joinpath(*module.split("."))
    stub = module in ("pymluops._core", "pymluops.functions")
    for path, is_package in (
        (base / ("__init__.pyi" if stub else "__init__.py"), True),
        (base.with_suffix(".pyi" if stub else ".py"), False),
    ):
        if path.is_file():
            return ast.parse(path.read_text(encoding="utf-8")), is_package
    return None


def document_of(module: str) -> str:
    """Return the docstring of a module."""
    base = ROOT.joinpath(*module.split("."))
    path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


@cache
def exports(module: str) -> tuple[str, ...]:
    """Return the names of a module that others may use, as its ``__all__`` says."""
    found = _tree(module)
    if found is None:
        return ()
    if module == "pymluops.functions":
        return tuple(sorted({name for name in _defined(found[0]) if name[0] != "_" and name not in _ALIASES}))
    names: list[str] = []
    for statement in found[0].body:
        if isinstance(statement, ast.Assign | ast.AugAssign):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            if isinstance(target, ast.Name) and target.id == "__all__":
                if isinstance(statement.value, ast.Attribute):
                    names += exports(f"{module}.{ast.unparse(statement.value.value)}")
                else:
                    names += ast.literal_eval(statement.value)
    if module == "pymluops":
        names.remove("abs")
        names += ["abs", *_LAZY[module]]
    return tuple(sorted(names or _without_all(found[0])))


#: Of the stubs of `pymluops.functions`: names of types.
_ALIASES = {"Array", "Described", "Real"}


def _defined(tree: ast.Module) -> Iterator[str]:
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            yield statement.name
        elif isinstance(statement, ast.ImportFrom):
            yield from (alias.name for alias in statement.names if alias.asname == alias.name)


def _without_all(tree: ast.Module) -> list[str]:
    found = (one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.ClassDef))
    return [name for name in found if not name.startswith("_")]


@cache
def name_of(module: str, name: str) -> Name | None:
    """Return what a name of a module is, wherever it is defined."""
    module = _LAZY.get(module, {}).get(name, module)
    if module == "pymluops._core":
        return _compiled(name)
    found = _tree(module)
    if found is None:
        return None
    tree, is_package = found
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == name:
            return Name(name, "function", _signature(statement), ast.get_docstring(statement) or "", module=module)
        if isinstance(statement, ast.ClassDef) and statement.name == name:
            return _class(statement, module)
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            if isinstance(target, ast.Name) and target.id == name:
                return Name(name, "data", "", _comment_above(module, statement.lineno), module=module)
    return _imported(tree, module, name, is_package)


def _imported(tree: ast.Module, module: str, name: str, is_package: bool) -> Name | None:
    for statement in ast.walk(tree):
        if not isinstance(statement, ast.ImportFrom) or statement.module is None:
            continue
        for alias in statement.names:
            if (alias.asname or alias.name) == name:
                return name_of(statement.module, alias.name) or _module(f"{statement.module}.{alias.name}", name)
            if alias.name == "*" and not statement.module.endswith("._types") and name in exports(statement.module):
                return name_of(statement.module, name)
    return _module(f"{module}.{name}", name) if is_package else None


def _module(module: str, name: str) -> Name | None:
    return Name(name, "module", "", document_of(module), module=module) if _tree(module) else None


def _comment_above(module: str, line: int) -> str:
    """Return the comment ``#:`` above a line, and what stands in its place if there is none."""
    base = ROOT.joinpath(*module.split("."))
    path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    lines = path.read_text(encoding="utf-8").splitlines()[: line - 1]
    comment: list[str] = []
    while lines and lines[-1].startswith("#:"):
        comment.insert(0, lines.pop().removeprefix("#:").strip())
    return " ".join(comment)


def _signature(statement: ast.FunctionDef, *, method: bool = False) -> str:
    """Return the parameters with their defaults; annotations stand in the docstring in words."""
    arguments = ast.parse(f"def f({ast.unparse(statement.args)}): ...").body[0]
    assert isinstance(arguments, ast.FunctionDef)
    every = [*arguments.args.posonlyargs, *arguments.args.args, *arguments.args.kwonlyargs]
    for argument in (*every, arguments.args.vararg, arguments.args.kwarg):
        if argument is not None:
            argument.annotation = None
    if method and not any("staticmethod" in ast.unparse(one) for one in statement.decorator_list):
        first = arguments.args.posonlyargs or arguments.args.args
        del first[:1]
    return f"({ast.unparse(arguments.args)})"


def _class(statement: ast.ClassDef, module: str) -> Name:
    members: list[Member] = []
    signature = ""
    for one in statement.body:
        if isinstance(one, ast.FunctionDef):
            if one.name == "__init__":
                signature = _signature(one, method=True)
            elif not one.name.startswith("_") and not any("overload" in ast.unparse(d) for d in one.decorator_list):
                members.append(_member(one))
    bases = {ast.unparse(base) for base in statement.bases}
    kind = "exception" if any(base.endswith(("Error", "Exception")) for base in bases) else "class"
    if any(base.endswith(("Enum", "IntFlag")) for base in bases):
        members += [
            Member(target.id, "attribute", f" = {ast.unparse(one.value)}", "")
            for one in statement.body
            if isinstance(one, ast.Assign) and isinstance(target := one.targets[0], ast.Name)
        ]
    return Name(statement.name, kind, signature, ast.get_docstring(statement) or "", tuple(members), module)


def _member(one: ast.FunctionDef) -> Member:
    decorators = {ast.unparse(decorator).split("(")[0].split(".")[-1] for decorator in one.decorator_list}
    is_property = bool(decorators & {"property", "cached_property", "setter"})
    signature = "" if is_property else _signature(one, method=True)
    return Member(one.name, "property" if is_property else "method", signature, ast.get_docstring(one) or "")


def _compiled(name: str) -> Name | None:
    """Return a class of the compiled module: its members from the stub, its docstrings from the Cython sources."""
    found = _tree("pymluops._core")
    assert found is not None
    for statement in found[0].body:
        if isinstance(statement, ast.ClassDef) and statement.name == name:
            source = _cython_class(name)
            plain = _class(statement, "pymluops._core")
            members = tuple(
                Member(one.name, one.kind, one.signature, _cython_document(source, rf"    def {one.name}\("))
                for one in {member.name: member for member in plain.members}.values()
            )
            document = _cython_document(source, rf"(?:cdef )?class {name}\b")
            return Name(name, "class", plain.signature, document, members, "pymluops._core")
        if isinstance(statement, ast.FunctionDef) and statement.name == name:
            return Name(name, "function", _signature(statement), "", module="pymluops._core")
    return None


def _cython_class(name: str) -> str:
    """Return the source of a Cython class."""
    for path in sorted(_COMPILED.glob("*.pxi")):
        source = path.read_text(encoding="utf-8")
        found = re.search(rf"^(?:cdef )?class {name}\b[^;\n]*:\n", source, re.MULTILINE)
        if found:
            return found[0] + re.split(r"^(?:cdef )?class ", source[found.end() :], maxsplit=1, flags=re.MULTILINE)[0]
    return ""


def _cython_document(source: str, start: str) -> str:
    """Return the docstring of a class or method, without the signature that it begins with."""
    found = re.search(rf'^{start}[^\n]*(?:\n        [^"\n]*)*:\n\s+"""(.*?)"""', source, re.MULTILINE | re.DOTALL)
    return _dedented(re.sub(r"^\w+\(.*?\)\n--\n\n", "", found[1], flags=re.DOTALL)) if found else ""


def _dedented(text: str) -> str:
    return inspect.cleandoc(text)


def public_names() -> dict[str, Name]:
    """Return every public name of every package in `PACKAGES`, by its full name."""
    found: dict[str, Name] = {}
    for module in PACKAGES:
        for name in exports(module):
            what = name_of(module, name)
            if what is None:
                raise SystemExit(f"{module}.{name}: its definition is not found in the sources")
            found[f"{module}.{name}"] = what
    return found
