"""The work that an operator cannot do without, by the vendor's acceptance standard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pymluops._work import RULES, ArrayShape, shape_of

#: Elements of these sizes count as half in the standard's vector peak: 64 operations of a core in a
#: cycle, else 32.
_HALF = (np.dtype(np.float16), np.dtype(np.int16))


class Theory(NamedTuple):
    """The least that an operator reads, writes and computes.

    Attributes
    ----------
    io_bytes : int
        Read from and written to device memory.
    operations : int
        Additions, multiplications and the like.
    half : bool
        Whether the vector unit does 64 of them in a cycle of a core, for elements of 2 bytes, and
        not 32.
    origin : str
        Where the numbers are from, a phrase.
    """

    io_bytes: int
    operations: int
    half: bool
    origin: str


class OperatorCall(NamedTuple):
    """A call of an operator: arrays in the order of the C function's tensors, inputs first.

    `kept` holds the settings that the rule of the operator reads.
    """

    function: str
    arrays: tuple[ArrayShape, ...]
    kept: Any = None


def call_of(function: str, arrays: Sequence[Any], settings: Any) -> OperatorCall:
    """Return the facts about a call that theory needs."""
    rule = RULES.get(function)
    return OperatorCall(function, tuple(map(shape_of, arrays)), None if rule is None else rule.keep(settings))


def theory_of(call: OperatorCall) -> Theory | None:
    """Return the work of an operator by the acceptance standard; None if it is not known for the operator."""
    rule = RULES.get(call.function)
    if rule is None:
        return None
    half = call.arrays[0].dtype in _HALF
    return Theory(rule.io_bytes(call.arrays, call.kept), rule.operations(call.arrays, call.kept), half, rule.origin)
