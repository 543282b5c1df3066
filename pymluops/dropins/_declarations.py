"""Declarations of functions of compiled extensions, on top of those for mmcv."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pymluops.mmcv._binding import Array, Call, Number, Returned, binding, indices, integers, result, values
from pymluops.mmcv._fitting import ShapeError
from pymluops.mmcv._tensors import unseen_by_compilers

__all__ = [
    "Array",
    "Call",
    "Number",
    "Returned",
    "Row",
    "extension",
    "indices",
    "int32_result",
    "integers",
    "real",
    "renamed",
    "result",
    "values",
]


class Row(NamedTuple):
    """A row of the table of an extension.

    Attributes
    ----------
    functions : str
        Names, separated by spaces.
    library : str
        What computes them.
    note : str
        What a user has to know.
    """

    functions: str
    library: str
    note: str = ""


def int32_result(name: str, shape: str, to: str, **options: Any) -> Array:
    """Declare a tensor of int32 that the function writes."""
    return result(name, shape, to, types=("int32",), **options)


def real(name: str) -> Number:
    """Declare a number of at least 0."""
    return Number(name, real=True, least=0)


def extension(
    name: str,
    operator: str,
    *declared: Array | Number,
    gives: Any = 1,
    returns: Returned | None = None,
    scalars: Mapping[str, Callable[[Call], Any]] | None = None,
    check: Callable[[Call], None] | None = None,
    empty: str = "refuse",
) -> Callable[..., Any]:
    """Return a function of a compiled extension; see `pymluops.mmcv._binding.binding`.

    Parameters
    ----------
    name : str
        Its name.
    operator : str
        Name of the operator that computes it.
    *declared : Array or Number
        Its arguments in their order.
    gives : object
        What it returns, unless it returns a new tensor.
    returns, scalars, check, empty
        Those of `binding`.
    """
    call = binding(name, operator, *declared, returns=returns, scalars=scalars, check=check, empty=empty)

    @functools.wraps(call)
    def run(*args: Any, **kwargs: Any) -> Any:
        found = call(*args, **kwargs)
        return gives if found is None else found

    return unseen_by_compilers(run)


def renamed(call: Callable[..., Any], name: str, gives: Any = None) -> Callable[..., Any]:
    """Return a function of an extension under another name, which its errors have too.

    Parameters
    ----------
    call : callable
        The function.
    name : str
        Its other name.
    gives : object
        What it returns in place of None.
    """
    old = call.__name__

    @functools.wraps(call)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            found = call(*args, **kwargs)
        except (RuntimeError, TypeError) as error:
            text = str(error)
            if type(error) not in (RuntimeError, ShapeError, TypeError) or not text.startswith(f"{old}: "):
                raise
            raise type(error)(name + text.removeprefix(old)) from error
        return gives if found is None else found

    run.__name__ = run.__qualname__ = name
    del run.__dict__["__wrapped__"]
    return unseen_by_compilers(run)
