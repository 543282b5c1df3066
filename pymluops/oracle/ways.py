"""Calls of an operator that take different ways through its kernels.

An oracle has ``ways(size)`` with calls of about `size` thousand values; without it, each operator
has one large call. ``phases()`` has calls so long that each of their phases can be interrupted in
its middle, ``endless()`` calls that take minutes or hours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Way:
    """One call.

    Parameters
    ----------
    operator, label : str
        Its Python function, and what is special about it.
    sizes : mapping
        Values of symbols; others are drawn.
    scalars : mapping
        Values of scalars that are no sizes.
    arrays : mapping
        Contents of arrays.
    change : callable, optional
        Changes the arguments in place after they were made.
    made : tuple, optional
        Arguments, shapes and types of the outputs, and settings, for an operator whose oracle makes
        them itself.
    huge : bool
        Arrays without contents here are address space that reads as zeros.
    """

    operator: str
    label: str
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    scalars: Mapping[str, Any] = field(default_factory=dict[str, Any])
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    change: Callable[[dict[str, Any], np.random.Generator], None] | None = None
    made: tuple[dict[str, Any], dict[str, Any], dict[str, Any]] | None = None
    huge: bool = False
