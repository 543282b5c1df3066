"""Arguments that do something while they are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Exporter:
    """An array that does something while it is read."""

    def __init__(self, array: np.ndarray, action: Callable[[], object]) -> None:
        self.array, self.action = array, action

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **options: Any) -> object:
        self.action()
        return self.array.__dlpack__()


class Number:
    """A number that does something while it is read."""

    def __init__(self, value: int, action: Callable[[], object]) -> None:
        self.value, self.action = value, action

    def __index__(self) -> int:
        self.action()
        return self.value
