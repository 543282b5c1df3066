"""Numbers that describe sparse tensors and convolutions: sizes, strides, counts."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pymluops._arguments import INT32_MAX

__all__ = ["sizes", "whole"]


def _read(value: Any) -> Any:
    """Return the integer that a value is, or None. Whole floats count, bools do not."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, torch.SymInt)):
        return value
    if isinstance(value, Tensor):
        return _read(value.item()) if value.numel() == 1 else None
    if isinstance(value, (np.ndarray, np.generic)):
        return _read(value.item()) if value.size == 1 else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    try:
        return operator.index(value)
    except TypeError:
        return None


def whole(function: str, name: str, value: Any, least: int, most: int = INT32_MAX) -> int:
    """Return an integer argument.

    Raises
    ------
    ValueError
        If it is no whole number from `least` to `most`.
    """
    number = _read(value)
    if number is None or not least <= number <= most:
        raise ValueError(f"{function}: {name}: expected an integer from {least} to {most}, got {value!r}")
    return number


def sizes(function: str, name: str, value: Any, ndim: int, least: int) -> list[int]:
    """Return one integer for each axis; a single number counts for all axes.

    Raises
    ------
    ValueError
        If there is another number of values, or one is no whole number from `least` to 2**31 - 1.
    """
    several = isinstance(value, (Sequence, Tensor, np.ndarray)) and not isinstance(value, (str, bytes))
    if several and getattr(value, "ndim", 1) != 0:
        numbers = [_read(number) for number in value]
    else:
        numbers = [_read(value)] * ndim
    if len(numbers) != ndim or any(number is None or not least <= number <= INT32_MAX for number in numbers):
        raise ValueError(f"{function}: {name}: expected {ndim} integers from {least} to {INT32_MAX}, got {value!r}")
    return numbers
