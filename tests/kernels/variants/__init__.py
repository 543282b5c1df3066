"""Changes of our kernels, a module for each family: `VARIANTS`, and by name the `CALLS` that show them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Calls = dict[str, Callable[[], Any]]


@dataclass(frozen=True)
class Variant:
    """A change of a kernel, a call that shows it, and the finding: what, and where, by the start of the text there."""

    name: str
    file: str
    old: str
    new: str
    call: str
    finding: str
    at: str
    arch: int = 592

    @property
    def family(self) -> str:
        return self.file.partition("/")[0]


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def indices(*shape: int, least: int, most: int) -> np.ndarray:
    return np.random.default_rng(1).integers(least, most + 1, shape, dtype=np.int32)
