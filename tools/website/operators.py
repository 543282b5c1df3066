"""A page for each family of operators: what it computes, how to call it, how fast it is, and who uses it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from written.functions import of_families
from written.reading import Family, read_families

from website.docstrings import entry, heading
from website.formulas import formula
from website.reading import ROOT, exports, name_of

__all__ = ["described_names", "pages"]

#: Results of machines with two virtual CPUs and AVX-512, and their processors; a family has its
#: cases in one of them.
_RESULTS = {
    "epyc-2-cpus.json": "AMD EPYC",
    "epyc-zen5-2-cpus.json": "AMD EPYC (Zen 5)",
    "xeon-2-cpus.json": "Intel Xeon",
}
_PAPER = re.compile(r"arXiv:(\d{4}\.\d{5})")
_PICTURES = ROOT / "docs" / "pictures"


def described_names(families: Iterable[Family]) -> dict[tuple[str, str], str]:
    """Return the names that these pages describe, by module and name, and their full names there."""
    found: dict[tuple[str, str], str] = {}
    for family in families:
        for package, module in _modules(family):
            for name in exports(module):
                what = name_of(module, name)
                if what is not None:
                    found[(what.module, what.name)] = f"{package}.{name}"
    return found


def pages(families: list[Family] | None = None) -> dict[str, str]:
    """Return the pages of all families, and their index."""
    families = read_families() if families is None else families
    found = {f"operators/{family.name}.rst": _page(family) for family in families}
    found["operators/index.rst"] = _index(families)
    return found


def _modules(family: Family) -> list[tuple[str, str]]:
    """Return the packages from which users import names of the family, and the modules that define them."""
    modules = [("pymluops", f"pymluops.ops.{family.name}"), ("pymluops.torch", f"pymluops.torch.{family.name}")]
    return [(package, module) for package, module in modules if exports(module)]


def _index(families: list[Family]) -> str:
    lines = [
        heading("Operators", "="),
        "For those who look for an operator: what each computes, with a page for its formula, shapes, types, speed",
        "and paper.",
        "",
        ".. list-table::",
        "   :header-rows: 1",
        "   :widths: 35 65",
        "",
        "   * - Operator",
        "     - Computes",
    ]
    for family in families:
        names = ", ".join(f"``{operator.name}``" for operator in family.operators)
        lines += [f"   * - :doc:`{_title(family)} <{family.name}>`", f"     - {family.summary}: {names}."]
    lines += ["", ".. toctree::", "   :hidden:", "", *(f"   {family.name}" for family in families)]
    return "\n".join(lines) + "\n"


#: Words of names that are spoken as letters, beside those without a vowel.
_ABBREVIATIONS = {"bev": "BEV", "iou": "IoU", "moe": "MoE", "roi": "RoI", "yolo": "YOLO"}


def _title(family: Family) -> str:
    words = family.name.split("_")
    return " ".join(_ABBREVIATIONS.get(word, word if re.search("[aeiouy]", word) else word.upper()) for word in words)


def _page(family: Family) -> str:
    title = _title(family)
    lines = [heading(title[0].upper() + title[1:], "="), f"{_readers(family)} {family.summary}.", ""]
    picture = _pictures().get(family.name, f"{family.name}.jpg")
    if (_PICTURES / picture).is_file():
        lines += [f".. image:: /pictures/{picture}", f"   :alt: {title}, drawn by pymluops demo", ""]
    lines += _facts(family)
    lines += [heading("What it computes", "-"), formula(family.name), ""]
    for package, module in _modules(family):
        lines += [heading({"pymluops": "NumPy and other arrays"}.get(package, "PyTorch"), "-")]
        # Forward directions before the others, functions before what they return.
        for name in sorted(exports(module), key=lambda one: (one[0].isupper(), "forward" not in one, one)):
            what = name_of(module, name)
            if what is not None:
                lines += [entry(f"{package}.{name}", what), ""]
    lines += _speed(family)
    return "\n".join(lines) + "\n"


def _readers(family: Family) -> str:
    """Return a sentence that says for whom the page is."""
    names = [f"``{operator.name}``" for operator in family.operators]
    return f"For those who call {' or '.join([', '.join(names[:-1]), names[-1]] if names[1:] else names)}."


@cache
def _pictures() -> dict[str, str]:
    """Return the pictures that have another name than their operator."""
    found: dict[str, str] = tomllib.loads((_PICTURES / "families.toml").read_text(encoding="utf-8"))
    return found


def _facts(family: Family) -> list[str]:
    """Return a list of where the operator is found, its types, papers and drop-ins."""
    computing, helping, double = (
        ", ".join(f":c:func:`{name}`" for name in names) for names in of_families()[family.name]
    )
    types = sorted({name for operator in family.operators for name in operator.types()})
    lines = [
        f":C functions: {computing}",
        *([f":Workspaces and descriptors: {helping}"] if helping else []),
        *([f":In double: {double}"] if double else []),
        f":Types in this family: {', '.join(types)}; each function says below what it takes",
    ]
    papers = sorted(set(_PAPER.findall((ROOT / "pymluops" / "ops" / f"{family.name}.py").read_text(encoding="utf-8"))))
    if papers:
        lines.append(f":Papers: {', '.join(f'`arXiv:{one} <https://arxiv.org/abs/{one}>`_' for one in papers)}")
    mmcv = exports(f"pymluops.mmcv.{family.name}")
    if mmcv:
        lines.append(f":mmcv: ``mmcv._ext`` calls it for {', '.join(f'``{name}``' for name in mmcv)}; :doc:`/mmcv`")
    others = _dropins(family)
    if others:
        lines.append(f":Packages of others: {'; '.join(others)}; :doc:`/dropins`")
    kernel = (
        "on the CPU, and on the simulated card" if (ROOT / "native/ops" / family.name / "bang.mlu").is_file() else ""
    )
    lines.append(f":Runs: {kernel or 'on the CPU'}")
    return [*lines, ""]


_DROPINS = ROOT / "pymluops" / "dropins"


@cache
def _dropin_sources() -> dict[str, str]:
    """Return the sources of the stand-ins: of extensions by what installs them, and of whole packages."""
    found: dict[str, str] = {}
    for path in sorted((_DROPINS / "extensions").glob("[!_]*.py")):
        source = path.read_text(encoding="utf-8")
        modules, last_names = _names_in(source, "MODULES"), _names_in(source, "LAST_NAMES")
        installed = re.search(r'^DROP_IN = "(.*)"$', source, re.MULTILINE)
        if modules and installed is not None:
            names = ", ".join(f"``{name}``" for name in modules)
            found[f'{names} by ``pymluops.install("{installed[1]}")``'] = _rows(source)
        elif last_names:
            names = ", ".join(f"``{name}``" for name in last_names)
            found[f'{names} by ``pymluops.install("{last_names[0]}", at=...)``'] = _rows(source)
    found['transformers, GroundingDINO and detrex by ``pymluops.install("transformers")``'] = _text_of(
        _DROPINS / "_attention.py"
    )
    packages = *(_DROPINS / "spconv").glob("*.py"), *(ROOT / "pymluops/torch/sparse").glob("*.py")
    found['``spconv`` by ``pymluops.install("spconv")``'] = "".join(
        map(_text_of, (*packages, ROOT / "pymluops/ops/_sparse_extension.py"))
    )
    return found


def _names_in(source: str, variable: str) -> list[str]:
    """Return the texts of a tuple."""
    found = re.search(rf"^{variable} = \((.*?)\)$", source, re.MULTILINE | re.DOTALL)
    return re.findall(r'"(.*?)"', found[1]) if found else []


def _text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _rows(source: str) -> str:
    """Return the table of an extension, which names the C functions, or that of the one whose table it has."""
    others = re.search(r"^ROWS = (\w+)\.ROWS$", source, re.MULTILINE)
    if others is not None:
        name = re.search(rf"\bimport (\w+) as {others[1]}\b", source)
        return _rows(_text_of(_DROPINS / "extensions" / f"{name[1] if name else others[1]}.py"))
    rows = re.search(r"^ROWS = \($.*?^\)$|^ROWS = .*$", source, re.MULTILINE | re.DOTALL)
    return rows[0] if rows else ""


def _dropins(family: Family) -> list[str]:
    """Return the extensions and packages whose stand-ins name a C function, or an operator, of the family."""
    functions = "|".join(name for names in of_families()[family.name] for name in names)
    names = "|".join(re.escape(operator.name) for operator in family.operators)
    used = re.compile(
        rf"\b(?:{functions})\b|\bpymluops\.(?:ops|torch|mmcv)\.{family.name}\b|\bpymluops\.(?:{names})\b"
        rf"|[\"'](?:{names})[\"']|\bfrom pymluops\.(?:torch import (?:\w+, )*(?:{names})|mmcv import {family.name})\b"
    )
    return [name for name, source in _dropin_sources().items() if used.search(source)]


# ---- Speed ---------------------------------------------------------------------------------------


@cache
def _cases() -> dict[str, tuple[dict[str, Any], ...]]:
    """Return the measured cases by the processor."""
    return {
        processor: tuple(json.loads((ROOT / "benchmarks/results" / name).read_text(encoding="utf-8"))["cases"])
        for name, processor in _RESULTS.items()
    }


def _speed(family: Family) -> list[str]:
    lines = [heading("Speed", "-")]
    for processor, every in _cases().items():
        cases = [case for case in every if case["family"] == family.name]
        if cases:
            lines += [
                f"Milliseconds with two threads on two virtual CPUs of an {processor} with AVX-512, and our time",
                "divided by that of a memcpy and of the best other implementation: below 1 ours is faster.",
                ":doc:`/performance` says how it is measured.",
                "",
                ".. list-table::",
                "   :header-rows: 1",
                "",
                "   * - Case",
                "     - ms",
                "     - by memcpy",
                "     - best other",
                "     - by the best other",
            ]
        for case in cases:
            lines += [f"   {'*' if i == 0 else ' '} - {cell}" for i, cell in enumerate(_cells(case))]
        lines.append("")
    peers = sorted(path.stem for path in (ROOT / "benchmarks/peers" / family.name).glob("[!_]*.py"))
    against = f" against {', '.join(peers)} where they are installed" if peers else ""
    lines += [f"In a clone, ``python3 -m benchmarks --filter {family.operators[0].name}`` measures it{against}.", ""]
    return lines


def _cells(case: Mapping[str, Any]) -> tuple[str, ...]:
    threads = max(int(one["threads"]) for one in case["contenders"])
    timed = {one["name"]: one["seconds"]["median"] for one in case["contenders"] if one["threads"] == threads}
    ratios = {one["to"]: one["median"] for one in case["ratios"] if one["threads"] == threads}
    others = {name: time for name, time in timed.items() if name not in ("pymluops", "memcpy", "float32", "one thread")}
    best = min(others, key=lambda name: others[name], default="")
    return (
        f"``{case['id']}``",
        f"{1e3 * timed['pymluops']:.3g}",
        _ratio(ratios["memcpy"]) if "memcpy" in ratios else "",
        best,
        _ratio(ratios[best]) if best in ratios else "",
    )


def _ratio(value: float) -> str:
    """Return a ratio with two decimals, or with one digit that is not 0."""
    return f"{value:.2f}" if value >= 0.01 else f"{value:.1g}"
