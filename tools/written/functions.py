"""The C functions of each family: those that its folder in native/ops defines, and those of its descriptors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from written.reading import ROOT, family_names

__all__ = ["CFunctions", "of_families"]

_NATIVE = ROOT / "native"
#: Functions that compute nothing themselves.
_HELPS = re.compile(r"WorkspaceSize|NumActOut$|^mluOp(?:Create|Set|Make|Destroy)[A-Z]")
#: Objects that carry the settings of one family's operators.
_SETTINGS = re.compile(r"\bmluOp(?!Tensor|SeqData)\w+(?:Descriptor|Plan)_t\b")


class CFunctions(NamedTuple):
    """The functions of a family, in the order of the headers."""

    computing: tuple[str, ...]
    #: Sizes of workspaces, and descriptors.
    helping: tuple[str, ...]
    double: tuple[str, ...]


@cache
def of_families() -> Mapping[str, CFunctions]:
    """Return the functions of each family by its name."""
    declared = _declared()
    families = _defined(declared)
    objects = {name: family for function, family in families.items() for name in _SETTINGS.findall(declared[function])}
    for function, declaration in declared.items():
        if function not in families:
            owners = {objects[name] for name in _SETTINGS.findall(declaration) if name in objects}
            owners |= {families[one] for one in _single(function) if one in families}
            if len(owners) > 1:
                raise SystemExit(f"{function}: is a function of several families: {', '.join(sorted(owners))}")
            if owners:
                families[function] = owners.pop()
    found: dict[str, tuple[list[str], list[str], list[str]]] = {}
    for function in declared:
        if function in families:
            found.setdefault(families[function], ([], [], []))[_kind(function)].append(function)
    return {family: CFunctions(*map(tuple, lists)) for family, lists in found.items()}


def _declared() -> dict[str, str]:
    """Return the declarations of all functions by their names, in the order of the headers."""
    include = _NATIVE / "include"
    found: dict[str, str] = {}
    for path in (include / "mlu_op.h", *sorted((include / "mluops_ext").glob("*.h"))):
        source = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for declaration in re.finditer(r"\b((?:mluOp|mluopsExt)\w+)\s*\([^;{}]*\)\s*;", source):
            found.setdefault(declaration[1], declaration[0])
    return found


def _defined(declared: Mapping[str, str]) -> dict[str, str]:
    """Return the family whose folder defines a function."""
    found: dict[str, str] = {}
    for folder in sorted(path for path in (_NATIVE / "ops").iterdir() if path.is_dir()):
        for path in sorted(folder.rglob("*.cpp")):
            for name in re.findall(r"^[\w\s*]*\b(mluOp\w+|mluopsExt\w+)\s*\(", path.read_text("utf-8"), re.MULTILINE):
                if name in declared:
                    found[name] = folder.name
    # A folder without a module of its own computes more of what a function of the vendor does.
    known = set(family_names())
    return {
        name: folder if folder in known else found[name.replace("mluopsExt", "mluOp", 1)]
        for name, folder in found.items()
    }


def _single(function: str) -> tuple[str, ...]:
    """Return the names that the function of single precision may have, for one in double."""
    if not function.endswith("Double"):
        return ()
    stem = function.removeprefix("mluopsExt").removesuffix("Double")
    return f"mluOp{stem}", f"mluopsExt{stem}"


def _kind(function: str) -> int:
    if function.endswith("Double"):
        return 2
    return 1 if _HELPS.search(function) else 0
