"""What the description of an operator does not say about refused calls of its C function.

``REFUSALS`` of an oracle maps C functions to it; a function that is not there is refused as
`Refusals` says by default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

SUCCESS, BAD_PARAM, NOT_SUPPORTED = 0, 3, 7

#: Kinds of checks in the usual order. ``objects`` are descriptors, ``optional`` those that may be
#: NULL, ``pairs`` optional arrays, of which both the descriptor and the data are NULL or neither
#: is, ``packed`` strides, ``positive`` sizes that may not be 0, ``indexable`` numbers of elements
#: below 2**31, ``numbers`` host arrays, which are ``aligned``. Beside these there are ``rules`` of
#: the description, which belong to the shapes otherwise, ``allowed``, types that an argument may
#: have whatever the others have, and ``empty``: from there on a call with an empty array succeeds.
ORDER = (
    "handle objects numbers aligned scalars ranks shapes layouts packed types positive indexable data workspace overlap"
)
#: What a function looks at that tells the size of a workspace.
SIZE_ORDER = "handle objects pointer"
ANY_LAYOUT = ("any",)


class Check(NamedTuple):
    """One condition of a call."""

    holds: bool
    status: int
    arguments: tuple[str, ...]  # of which a reason may name one
    rows_needed: int | None = None  # what a descriptor tells after the refusal


@dataclass(frozen=True)
class Refusals:
    """How one C function refuses.

    Parameters
    ----------
    order : str
        Kinds in the order of the checks. ``kind:argument`` is the check of that argument alone,
        ``C>0`` that of one size. The first one that fails decides about the status.
    statuses : mapping
        Status of a kind, or of ``kind:argument``, where it is not BAD_PARAM, or NOT_SUPPORTED of
        strides and sizes.
    layouts : mapping
        Layouts that an argument may have. Otherwise it is the one that the description names, and
        any if that is ARRAY.
    empty : mapping
        Size to arguments: if it is 0, the call succeeds and of all data looks at that of these
        arguments.
    empty_is_none : tuple of str
        Arguments that count as not given if they have no elements.
    shapes : mapping
        Terms of an argument in another layout, or with another number of dims, than the description
        has: ``(argument, layout, number)`` to a text, in which ``kd=1`` gives a symbol its value.
    symbols : callable, optional
        Values of symbols that come from the settings of a call.
    checks : callable, optional
        Further checks of a call by kind; ``order`` has these kinds.
    needs_workspace : bool
        Whether the function ever wants a workspace.
    faults : mapping
        Further single faults: name to edits.
    """

    order: str = ORDER
    statuses: Mapping[str, int] = field(default_factory=dict[str, int])
    layouts: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    empty: Mapping[str, str] = field(default_factory=dict[str, str])
    empty_is_none: tuple[str, ...] = ()
    shapes: Mapping[tuple[str, str, int], str] = field(default_factory=dict[tuple[str, str, int], str])
    symbols: Callable[[Any], Mapping[str, int]] | None = None
    checks: Callable[[Any, Mapping[str, int]], Mapping[str, Iterable[Check]]] | None = None
    needs_workspace: bool = True
    faults: Mapping[str, Mapping[tuple[str, str], Any]] = field(
        default_factory=dict[str, Mapping[tuple[str, str], Any]]
    )


def bad(holds: bool, *arguments: str) -> Check:
    """A condition without which the call is BAD_PARAM."""
    return Check(holds, BAD_PARAM, arguments)


def unsupported(holds: bool, *arguments: str) -> Check:
    """A condition without which the call is NOT_SUPPORTED."""
    return Check(holds, NOT_SUPPORTED, arguments)
