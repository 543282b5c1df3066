"""What suppression keeps, as many numbers as there are."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

__all__ = ["kept_numbers"]


def kept_numbers(found: tuple[Tensor, Tensor]) -> Tensor:
    """Return the first numbers of a tensor, int64, given it and how many they are."""
    kept, count = found
    number: Any = count.item()
    if torch.compiler.is_compiling():  # the number is known only when the program runs
        torch._check(number >= 0)
        torch._check(number <= kept.shape[0])
    return kept.narrow(0, 0, number).long()
