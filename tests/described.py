"""Legal arguments for any operator, made from its description in pymluops/ops.

Where the description does not say enough, `tests/oracle/<family>.py` has ``prepare(arguments, rng)``, which changes the
arguments in place; and ``large(rng)`` with arguments of large calls, where the Python function takes others.
"""

from __future__ import annotations

import importlib
import inspect
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import families
import pymluops
from pymluops import _core
from pymluops.dtypes import data_type_name
from pymluops.ops._schema import Pairs, Scalar, Tensor

#: Number, type returned and parameters of every C function.
PARAMETERS: dict[str, Any] = _core._FUNCTIONS  # type: ignore[attr-defined]


def family_of(name: str) -> str:
    """The family of an operator."""
    return next(family for family in families.FAMILIES if name in families.operators(family))


def _prepare(name: str) -> Callable[[dict[str, Any], np.random.Generator], None] | None:
    return getattr(importlib.import_module(f"oracle.{family_of(name)}"), "prepare", None)


def describable() -> list[str]:
    """The operators whose Python function takes the arguments of the description, under their names."""
    found = []
    for name, known in families.OPERATORS.items():
        parameters = set(inspect.signature(getattr(pymluops, name)).parameters)
        if {argument.name for argument in (*known.tensors, *known.scalars)} <= parameters:
            found.append(name)
    return found


@dataclass(frozen=True)
class Made:
    """Arguments by name without the outputs, and shape and type of each output."""

    arguments: dict[str, Any]
    outputs: dict[str, tuple[tuple[int, ...], str]]


def arguments(name: str, rng: np.random.Generator, most: int = 4, dtype: str | None = None) -> dict[str, Any]:
    """Arguments by name, without the outputs; no array is empty."""
    return make(name, rng, most, dtype).arguments


def make(
    name: str, rng: np.random.Generator, most: int = 4, dtype: str | None = None, *, least: int = 1, zeros: float = 0.0
) -> Made:
    """Arguments of an operator with sizes from `least` to `most`.

    With the probability `zeros` a size is 0, which the operator may refuse.
    """
    described = families.OPERATORS[name]
    sizes = _Sizes(rng, least, most, zeros)
    holds = False
    while not holds:
        made: dict[str, Any] = {}
        outputs: dict[str, tuple[tuple[int, ...], str]] = {}
        sizes.clear()
        for scalar in described.scalars:
            value = _scalar(described.function, scalar, rng, most)
            if isinstance(value, int):
                sizes[scalar.symbol or scalar.name] = value
            # Several scalars of one name are the parts of a tuple.
            several = sum(other.name == scalar.name for other in described.scalars) > 1
            made[scalar.name] = (*made.get(scalar.name, ()), value) if several else value
        for tensor in described.tensors:
            shape = tuple(sizes.of(term) for term in tensor.shape.split())
            kind = _kind(tensor, made, outputs, rng, dtype)
            if tensor.output:
                outputs[tensor.name] = shape, kind
            else:
                made[tensor.name] = _array(tensor, shape, kind, sizes, rng)
        holds = all(_holds(rule, sizes) for tensor in described.tensors for rule in tensor.rules)
    prepare = _prepare(name)
    if prepare is not None and all(array.size for array in made.values() if isinstance(array, np.ndarray)):
        prepare(made, rng)
    return Made(made, outputs)


#: Elements of all arrays of a large call together: enough for several threads, few enough for the simulator.
_LARGE = 150_000


def large(name: str, rng: np.random.Generator, dtype: str) -> list[dict[str, Any]]:
    """Arguments of calls with about `_LARGE` elements, one for each value of an enumeration."""
    own = getattr(importlib.import_module(f"oracle.{family_of(name)}"), "large", None)
    if own is not None:
        return list(own(rng))
    calls = [make_large(name, rng, dtype).arguments]
    for scalar in families.OPERATORS[name].scalars:
        if scalar.choices:
            calls = [{**arguments, scalar.name: choice} for arguments in calls for choice in scalar.choices]
    return calls


def make_large(name: str, rng: np.random.Generator, dtype: str) -> Made:
    """Arguments with about `_LARGE` elements."""
    most, found = 4, make(name, rng, 4, dtype)
    while most < 64:
        most += 1 + most // 8
        made = make(name, rng, most, dtype, least=most // 2)
        sizes = [array.size for array in made.arguments.values() if isinstance(array, np.ndarray)]
        if sum(sizes) + sum(int(np.prod(shape)) for shape, _ in made.outputs.values()) > _LARGE:
            break
        found = made
    return found


def dtypes(name: str) -> list[str]:
    """The types that the first array of an operator may have."""
    kinds = families.OPERATORS[name].tensors[0].dtype
    assert isinstance(kinds, tuple)
    return [data_type_name(data_type) for data_type in kinds]


class _Sizes(dict[str, int]):
    """The values of symbols, drawn where they are first asked for."""

    def __init__(self, rng: np.random.Generator, least: int, most: int, zeros: float) -> None:
        super().__init__()
        self._rng, self._least, self._most, self._zeros = rng, least, most, zeros

    def __missing__(self, symbol: str) -> int:
        empty = self._zeros and self._rng.random() < self._zeros
        self[symbol] = 0 if empty else int(self._rng.integers(self._least, self._most + 1))
        return self[symbol]

    def of(self, term: str) -> int:
        """The value of a term."""
        product, _, addend = term.partition("+")
        size = 1
        for factor in product.split("*"):
            size *= int(factor) if factor.isdigit() else self[factor]
        return size + int(addend or 0)


def _holds(rule: str, sizes: _Sizes) -> bool:
    left, relation, *right = rule.split()
    first, *others = (sizes.of(term) for term in (left, *right))
    if relation == "in":
        return first in others
    compare = {"divides": lambda a, b: a != 0 and b % a == 0, "==": operator.eq, "!=": operator.ne, "<": operator.lt,
               "<=": operator.le, ">": operator.gt, ">=": operator.ge}  # fmt: skip
    return bool(compare[relation](first, others[0]))


def _scalar(function: str, scalar: Scalar, rng: np.random.Generator, most: int) -> Any:
    if scalar.choices:
        return str(rng.choice(list(scalar.choices)))
    kind = {name: kind for kind, name in PARAMETERS[function][2]}.get(scalar.c_name, "int")
    if kind == "bool":
        return bool(rng.integers(2))
    if kind in ("float", "double"):
        low = -2.0 if scalar.minimum is None else float(scalar.minimum)
        return float(rng.uniform(low, min(low + 4, float("inf") if scalar.maximum is None else scalar.maximum)))
    low = 1 if scalar.minimum is None else int(scalar.minimum)
    return int(rng.integers(max(low, 1), max(low, most) + 1))


def _kind(
    tensor: Tensor,
    made: dict[str, Any],
    outputs: dict[str, tuple[tuple[int, ...], str]],
    rng: np.random.Generator,
    dtype: str | None,
) -> str:
    """The type of an array: `dtype` where it may choose and has that one."""
    if isinstance(tensor.dtype, tuple):
        names = [data_type_name(data_type) for data_type in tensor.dtype]
        if tensor.output:
            return names[0]
        return dtype if dtype in names else str(rng.choice(names))
    other = tensor.dtype.other if isinstance(tensor.dtype, Pairs) else tensor.dtype
    first = made[other].dtype.name if other in made else outputs[other][1]
    if isinstance(tensor.dtype, Pairs):
        return next(data_type_name(b) for a, b in tensor.dtype.allowed if data_type_name(a) == first)
    return first


def _array(tensor: Tensor, shape: tuple[int, ...], kind: str, sizes: _Sizes, rng: np.random.Generator) -> np.ndarray:
    if kind.startswith("float"):
        return rng.normal(0, 2, shape).astype(kind)
    if not tensor.within:
        return rng.integers(-6, 7, shape).astype(kind)
    limits = [max(sizes[symbol], 1) for symbol in tensor.within]
    return rng.integers(0, limits if len(limits) > 1 else limits[0], shape).astype(kind)


def call(name: str, made: dict[str, Any], **keywords: Any) -> tuple[Any, ...]:
    """Call the Python function; the results, always as a tuple."""
    found = getattr(pymluops, name)(**made, **keywords)
    return found if isinstance(found, tuple) else (found,)


def sums(name: str) -> bool:
    """Whether results are sums, which a device may round or order in its own way (SUMS of the oracle)."""
    return name in getattr(importlib.import_module(f"oracle.{family_of(name)}"), "SUMS", ())


def outputs(name: str) -> list[Tensor]:
    """The outputs of an operator, in the order of its results."""
    return [tensor for tensor in families.OPERATORS[name].tensors if tensor.output]
