"""Legal arguments for any operator, made from its description in pymluops/ops.

Where the description does not say enough, `tests/oracle/<family>.py` has ``prepare(arguments, rng)``, which changes the
arguments in place.
"""

from __future__ import annotations

import importlib
import inspect
import operator
from collections.abc import Callable
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


def arguments(name: str, rng: np.random.Generator, most: int = 4, dtype: str | None = None) -> dict[str, Any]:
    """Arguments by name, without the outputs; no array is empty."""
    described = families.OPERATORS[name]
    holds = False
    while not holds:
        made: dict[str, Any] = {}
        sizes: dict[str, int] = {}
        for scalar in described.scalars:
            value = _scalar(described.function, scalar, rng, most)
            if isinstance(value, int):
                sizes[scalar.symbol or scalar.name] = value
            # Several scalars of one name are the parts of a tuple.
            several = sum(other.name == scalar.name for other in described.scalars) > 1
            made[scalar.name] = (*made.get(scalar.name, ()), value) if several else value
        for tensor in described.tensors:
            shape = tuple(_size(term, sizes, rng, most) for term in tensor.shape.split())
            if not tensor.output:
                made[tensor.name] = _array(tensor, shape, made, sizes, rng, dtype)
        holds = all(_holds(rule, sizes, rng, most) for tensor in described.tensors for rule in tensor.rules)
    prepare = _prepare(name)
    if prepare is not None:
        prepare(made, rng)
    return made


def _size(term: str, sizes: dict[str, int], rng: np.random.Generator, most: int) -> int:
    product, _, addend = term.partition("+")
    size = 1
    for factor in product.split("*"):
        size *= int(factor) if factor.isdigit() else sizes.setdefault(factor, int(rng.integers(1, most + 1)))
    return size + int(addend or 0)


def _holds(rule: str, sizes: dict[str, int], rng: np.random.Generator, most: int) -> bool:
    left, relation, *right = rule.split()
    first, *others = (_size(term, sizes, rng, most) for term in (left, *right))
    if relation == "in":
        return first in others
    compare = {"divides": lambda a, b: b % a == 0, "==": operator.eq, "!=": operator.ne, "<": operator.lt,
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


def _array(
    tensor: Tensor, shape: tuple[int, ...], made: dict[str, Any], sizes: dict[str, int], rng: np.random.Generator,
    dtype: str | None,
) -> Any:  # fmt: skip
    if isinstance(tensor.dtype, str):
        kind = made[tensor.dtype].dtype.name
    elif isinstance(tensor.dtype, Pairs):
        first = made[tensor.dtype.other].dtype.name
        kind = next(data_type_name(b) for a, b in tensor.dtype.allowed if data_type_name(a) == first)
    else:
        names = [data_type_name(data_type) for data_type in tensor.dtype]
        kind = dtype if dtype in names else str(rng.choice(names))
    if kind.startswith("float"):
        return rng.normal(0, 2, shape).astype(kind)
    limits = [sizes[symbol] for symbol in tensor.within] or [4]
    return rng.integers(0, limits if len(limits) > 1 else limits[0], shape).astype(kind)


def call(name: str, made: dict[str, Any], **keywords: Any) -> tuple[Any, ...]:
    """Call the Python function; the results, always as a tuple."""
    found = getattr(pymluops, name)(**made, **keywords)
    return found if isinstance(found, tuple) else (found,)


def outputs(name: str) -> list[Tensor]:
    """The outputs of an operator, in the order of its results."""
    return [tensor for tensor in families.OPERATORS[name].tensors if tensor.output]
