"""Folders of hooks for PyInstaller: the entry point ``pyinstaller40`` names `hook_folders`."""

from __future__ import annotations

from pathlib import Path

import pymluops

__all__ = ["OPTIONAL", "files", "hook_folders", "libraries", "modules"]

#: Parts that need other packages; a program that wants one imports it by its name.
OPTIONAL = ("torch", "mmcv", "dropins", "demo", "bang.testing", "bang.coverage", "_pyinstaller")
#: Files that the package reads.
_KINDS = ("*.json", "*.toml", "*.h", "*.html", "*.css", "*.js", "*.cmake")


def hook_folders() -> list[str]:
    """Return the folders with hooks."""
    return [str(Path(__file__).parent)]


def _roots() -> list[Path]:
    """Return the folders of the package: several for an editable installation."""
    return [Path(root) for root in pymluops.__path__]


def modules(part: str = "") -> list[str]:
    """Return all modules of one part of the package; without a name, those of all that are not optional."""
    found = {"pymluops._core"} if not part else set[str]()
    for root in _roots():
        for path in root.rglob("*.py"):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(word for word in parts if word != "__init__")
            if name and parts[0] not in ("_share", "_sim") and (_is_in(name, part) if part else not _is_optional(name)):
                found.add(f"pymluops.{name}")
    return sorted(found)


def _is_in(name: str, part: str) -> bool:
    return name == part or name.startswith(f"{part}.")


def _is_optional(name: str) -> bool:
    return any(_is_in(name, part) for part in OPTIONAL) or name.rpartition(".")[2].startswith("hook-")


def files() -> list[tuple[str, str]]:
    """Return the files that the package reads, each with the folder that it goes to."""
    return [
        (str(path), str(Path("pymluops") / path.relative_to(root).parent))
        for root in _roots()
        for kind in _KINDS
        for path in sorted(root.rglob(kind))
        if "_share" not in path.parts
    ]


def libraries() -> list[tuple[str, str]]:
    """Return the libraries of operators, each with the folder that it goes to."""
    return [(str(path), "pymluops") for root in _roots() for path in sorted(root.glob("libml*.so*"))]
