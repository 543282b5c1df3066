"""Integers and bools among the arguments of functions of tensors: taken where nothing is lost, refused by name.

The usual values pass at once, and so does what stands for a number while a program is traced.
"""

from __future__ import annotations

from typing import Any

import torch

from pymluops import _arguments

__all__ = ["flag", "limit", "several", "whole"]

_INT64_MAX = 2**63 - 1


def whole(function: str, name: str, value: Any, least: int = 0, most: int = _arguments.INT32_MAX) -> Any:
    """Return an integer from `least` to `most`, or what stands for one where a program is traced."""
    tracing = torch.jit.is_tracing()  # pyright: ignore[reportPrivateImportUsage]
    if (type(value) is int and least <= value <= most) or isinstance(value, torch.SymInt) or tracing:
        return value
    return _arguments.integer(_arguments.Names(function, ""), name, value, least, most)


def limit(function: str, name: str, value: Any, least: int = 0) -> Any:
    """Return how many results are wanted at most: an integer of any size, since a large one is no limit."""
    return whole(function, name, value, least, _INT64_MAX)


def several(function: str, name: str, value: Any, count: int, least: int = 1, *, repeat: bool = True) -> Any:
    """Return `count` integers from `least` on: a sequence of them or, with `repeat`, one for all."""
    alone = repeat and issubclass(type(value), (int, torch.SymInt))
    if torch.compiler.is_compiling() and (alone or len(value) == count):  # they may be symbols
        return (value,) * count if alone else tuple(value)
    return _arguments.integers(_arguments.Names(function, ""), name, value, count, least, repeat=repeat)


def flag(function: str, name: str, value: Any) -> Any:
    """Return a bool; 0, 1 and the bools of NumPy count."""
    if value is True or value is False or isinstance(value, torch.SymBool):
        return value
    return _arguments.flag(_arguments.Names(function, ""), name, value)
