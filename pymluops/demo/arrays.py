"""The type that annotations use for an array; docstrings say what it holds."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
