"""Sources, and what becomes of them: object files and libraries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pymluops.bang._final_code import Contents

__all__ = ["Compiled", "Input", "Linked"]


@dataclass(frozen=True)
class Input:
    """A source: a file, or a text with a name."""

    name: str
    folder: Path | None  # where headers are looked for first; None for nowhere
    text: str


class Compiled(NamedTuple):
    """An object file.

    Attributes
    ----------
    name : str
        Of its entry in the cache.
    data : bytes
        Its contents.
    headers : dict of str to str
        Headers that the compiler found outside of the folders of the system, with their states.
    text : str
        The translated source.
    source : str
        The name of the source.
    unseen : dict of str to list
        What no checker sees in its functions.
    """

    name: str
    data: bytes
    headers: dict[str, str]
    text: str
    source: str
    unseen: Contents


class Linked(NamedTuple):
    """A library that is not loaded.

    Attributes
    ----------
    name : str
        Of its entry in the cache.
    data : bytes
        Its contents.
    kept : bool
        Whether nothing had to be compiled.
    """

    name: str
    data: bytes
    kept: bool
