"""Reading of plain arguments: integers, pairs and triples of them, flags."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol, SupportsFloat, cast

from pymluops._shown import shown
from pymluops.errors import BadParamError, BadParamTypeError

__all__ = [
    "INT32_MAX",
    "Caller",
    "Names",
    "as_numbers",
    "choice",
    "flag",
    "integer",
    "integers",
    "is_integer",
    "real",
    "refusal",
    "shown",
]

INT32_MAX = 2**31 - 1


class Caller(Protocol):
    """Whose argument is read: the names in messages."""

    @property
    def name(self) -> str: ...  # of the Python function
    @property
    def function(self) -> str: ...  # of the C function


class Names(NamedTuple):
    """A `Caller` with nothing else to it."""

    name: str
    function: str


def refusal(caller: Caller, argument: str, expected: str, got: str, *, wrong_type: bool = False) -> BadParamError:
    """Return the error for a refused argument, worded the same everywhere; a `TypeError` too with `wrong_type`."""
    kind = BadParamTypeError if wrong_type else BadParamError
    return kind(f"{caller.name}: {argument}: expected {expected}, got {got}", function=caller.function)


def _index(value: object) -> int | None:
    """Return the integer that `value` is, or None: anything with ``__index__`` counts, except bool."""
    if type(value) is int:
        return value
    if isinstance(value, bool) or str(getattr(value, "dtype", "")).endswith("bool"):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def is_integer(value: object) -> bool:
    """Tell whether `value` is of a type that counts as an integer."""
    return _index(value) is not None


def integer(caller: Caller, argument: str, value: object, minimum: int = 0, maximum: int = INT32_MAX) -> int:
    """Return `value` as an int between `minimum` and `maximum`."""
    number = _index(value)
    if number is None or not minimum <= number <= maximum:
        raise refusal(
            caller, argument, f"an integer from {minimum} to {maximum}", shown(value), wrong_type=number is None
        )
    return number


def integers(
    caller: Caller, argument: str, value: object, count: int, minimum: int = 0, *, repeat: bool = True
) -> tuple[int, ...]:
    """Return `count` ints: `value` is a sequence of them or, with `repeat`, one integer for all."""
    number = _index(value) if repeat else None
    numbers = (number,) * count if number is not None else as_numbers(value)
    if numbers is None or len(numbers) != count or min(numbers) < minimum or max(numbers) > INT32_MAX:
        alone = "an integer or " if repeat else ""
        expected = f"{alone}a sequence of {count} integers from {minimum} to {INT32_MAX}"
        raise refusal(caller, argument, expected, shown(value), wrong_type=numbers is None)
    return numbers


def as_numbers(value: object) -> tuple[int, ...] | None:
    """Return a sequence of integers as a tuple of ints, or None if it is anything else."""
    if isinstance(value, (str, bytes, dict, set, frozenset)) or not isinstance(value, Iterable):
        return None
    items = cast("Iterable[object]", value)
    try:
        known = tuple(items)
    except TypeError:  # an array without dims can be asked for its items, but has none
        return None
    if set(map(type, known)) <= {int}:  # the usual case, quickly
        return cast("tuple[int, ...]", known)
    numbers = [_index(item) for item in known]
    return tuple(number for number in numbers if number is not None) if None not in numbers else None


def flag(caller: Caller, argument: str, value: object) -> bool:
    """Return `value` as a bool; besides the bools of Python and NumPy, 0 and 1 count."""
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    number = _index(value)
    if number not in (0, 1):
        raise refusal(caller, argument, "a bool", shown(value), wrong_type=number is None)
    return bool(number)


def real(caller: Caller, argument: str, value: object) -> float:
    """Return `value` as a float: anything with ``__index__`` or ``__float__`` counts, except bool, arrays, complex."""
    number = _index(value)
    try:
        if number is not None:
            return float(number)
        if (
            hasattr(type(value), "__float__")
            and not isinstance(value, bool)
            and not getattr(value, "ndim", 0)
            and getattr(getattr(value, "dtype", None), "kind", "f") not in "bc"
        ):
            return float(cast("SupportsFloat", value))
    except (OverflowError, TypeError, ValueError):
        pass
    raise refusal(caller, argument, "a number", shown(value), wrong_type=number is None)


def choice(caller: Caller, argument: str, value: object, choices: Mapping[str, int]) -> int:
    """Return the value of one of `choices`: `value` is its name, or the value itself."""
    number = choices.get(value) if isinstance(value, str) else _index(value)
    if number is None or number not in choices.values():
        texts = [*map(repr, choices), *map(str, sorted(set(choices.values())))]
        wrong_type = number is None and not isinstance(value, str)
        raise refusal(caller, argument, f"{', '.join(texts[:-1])} or {texts[-1]}", shown(value), wrong_type=wrong_type)
    return number
