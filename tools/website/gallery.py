"""The gallery: examples with what they show, their pictures and their sources."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from website.docstrings import heading
from website.reading import ROOT

__all__ = ["FOLDERS", "pages"]

_EXAMPLES = ROOT / "examples"
_PICTURES = ROOT / "docs" / "pictures"
#: Folders of the gallery, and what stands above them.
FOLDERS = {
    "networks": ("Networks that train on the CPU", "Each trains in less than a minute: :doc:`/networks`.", "*.py"),
    "mmdet3d": (
        "Detectors of mmdetection3d and mmdet",
        "From the configs in their packages: :doc:`/models`.",
        "detect.py",
    ),
    "engines": ("Clusters and several processes", "Sparse convolutions and voxels beyond one process.", "*.py"),
    "kernels": (
        "Kernels in BANG C",
        "To read and to change, one file each; ``pymluops kernel check`` runs them.",
        "*.mlu",
    ),
    "programs": ("Whole programs", "Kernels with their host code, for ``bangcc``.", "*.mlu"),
    "puzzles": ("Puzzles", "Kernels with a gap, for those who learn it: :doc:`/generated/documents/puzzles`.", "*.mlu"),
    "c": ("C", "A program that links the library: :doc:`/c`.", "*.c"),
}
_HELPERS = {"scenes.py", "training.py", "conftest.py"}


def pages() -> dict[str, str]:
    """Return the gallery, and a page with the sources of each folder."""
    found: dict[str, str] = {}
    lines = [
        heading("Gallery", "="),
        "For those who learn by examples: the programs of the folder ``examples``, with their pictures.",
        "",
    ]
    hidden = ["", ".. toctree::", "   :hidden:", ""]
    for folder, (title, text, pattern) in FOLDERS.items():
        paths = [path for path in sorted((_EXAMPLES / folder).glob(pattern)) if path.name not in _HELPERS]
        lines += [heading(title, "-"), text, "", ".. list-table::", "   :widths: 30 70", ""]
        for path in paths:
            lines += [f"   * - :ref:`{path.stem} <example-{folder}-{path.stem}>`", f"     - {_escaped(_summary(path))}"]
        lines += ["", *(line for path in paths for line in _picture(path.stem))]
        hidden.append(f"   {folder}")
        begin = [heading(title, "="), f"For those who read examples in full. {text}", ""]
        found[f"gallery/{folder}.rst"] = "\n".join([*begin, *map(_source, paths)]) + "\n"
    found["gallery/index.rst"] = "\n".join([*lines, *hidden]) + "\n"
    return found


def _source(path: Path) -> str:
    language = {".py": "python", ".c": "c", ".mlu": "cpp"}[path.suffix]
    place = path.relative_to(ROOT).as_posix()
    lines = [f".. _example-{path.parent.name}-{path.stem}:", "", heading(path.stem, "-"), _escaped(_summary(path)), ""]
    lines += [f"``{place}``", "", f".. literalinclude:: /../{place}", f"   :language: {language}", ""]
    return "\n".join(lines)


def _picture(stem: str) -> list[str]:
    """Return the lines that show the picture of an example, if it has one."""
    path = _PICTURES / "examples" / f"{stem}.jpg"
    return [f".. image:: /pictures/examples/{stem}.jpg", f"   :alt: what {stem} draws", ""] if path.is_file() else []


def _summary(path: Path) -> str:
    """Return the first sentence of a source's first comment or docstring."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        text = ast.get_docstring(ast.parse(source)) or ""
    elif source.startswith("/*"):
        text = re.sub(r"^ ?\*+ ?", "", source.removeprefix("/*").partition("*/")[0], flags=re.MULTILINE)
    else:
        text = "\n".join(re.match(r"(?://.*\n)*", source)[0].replace("//", "").split("\n"))  # type: ignore[index]
    paragraph = " ".join(text.strip().split("\n\n", 1)[0].split())
    return re.split(r"(?<=[.:]) (?=[A-Z])", paragraph, maxsplit=1)[0].rstrip(":")


def _escaped(text: str) -> str:
    return re.sub(r"([\\*`|_])", r"\\\1", text)
