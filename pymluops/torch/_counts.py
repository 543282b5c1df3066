"""What functions share whose results have as many rows as values of tensors say."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

__all__ = ["known_count", "need_tensors"]


def need_tensors(function: str, **given: object) -> None:
    """Refuse what is no tensor."""
    for name, one in given.items():
        if not isinstance(one, Tensor):
            raise TypeError(f"{function}: {name}: expected a tensor of PyTorch, got {type(one).__qualname__}")


def known_count(count: Tensor, most: int) -> int:
    """Return a number in a tensor, and let compilers know its limits."""
    found: Any = count.item()
    if torch.compiler.is_compiling():
        torch._check(found >= 0)
        torch._check(found <= most)
    return int(found) if isinstance(found, int) else found
