"""Legal arguments for any operator, made from its description in pymluops/ops.

Where the description does not say enough, `pymluops/oracle/<family>.py` has ``prepare(arguments,
rng)``, which changes the arguments in place, or ``make(rng, most)``, which makes all of them;
``large(rng)`` with arguments of large calls, where the Python function takes others; and
``settings(name, arguments)`` with the values of descriptors that carry settings, by the parameters,
and ``KEYWORDS`` with what the Python functions take in their place.
"""

from __future__ import annotations

import importlib
import inspect
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import pymluops
from pymluops import _core
from pymluops._core import Operator
from pymluops.dtypes import data_type_name as type_name
from pymluops.ops._schema import Pairs, Scalar, Tensor
from pymluops.oracle.ways import Way
from support import families

#: Number, type returned and parameters of every C function.
PARAMETERS: dict[str, Any] = _core._FUNCTIONS  # type: ignore[attr-defined]


def family_of(name: str) -> str:
    """The family of an operator."""
    return next(family for family in families.FAMILIES if name in families.operators(family))


def _prepare(name: str) -> Callable[[dict[str, Any], np.random.Generator], None] | None:
    return getattr(importlib.import_module(f"pymluops.oracle.{family_of(name)}"), "prepare", None)


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
    """Arguments by name without the outputs, shape and type of each output, and values of descriptors with settings."""

    arguments: dict[str, Any]
    outputs: dict[str, tuple[tuple[int, ...], str]]
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)


def arguments(name: str, rng: np.random.Generator, most: int = 4, dtype: str | None = None) -> dict[str, Any]:
    """Arguments by name, without the outputs; no array is empty."""
    return make(name, rng, most, dtype).arguments


def make(
    name: str | Operator,
    rng: np.random.Generator,
    most: int = 4,
    dtype: str | None = None,
    *,
    least: int = 1,
    zeros: float = 0.0,
    given: Mapping[str, Any] | None = None,
) -> Made:
    """Arguments of an operator with sizes from `least` to `most`; `given` has the values of some symbols and scalars.

    With the probability `zeros` a size is 0, which the operator may refuse. SIZES of the oracle has
    the values of symbols and scalars that have few.
    """
    given = given or {}
    described = families.OPERATORS[name] if isinstance(name, str) else name
    name = described.name
    oracle = importlib.import_module(f"pymluops.oracle.{family_of(name)}")
    own = getattr(oracle, "make", None)
    if own is not None:
        return Made(*own(rng, most))
    few: Mapping[str, tuple[int, ...]] = getattr(oracle, "SIZES", {})
    sizes = _Sizes(rng, least, most, zeros, few)
    holds = False
    while not holds:
        made: dict[str, Any] = {}
        outputs: dict[str, tuple[tuple[int, ...], str]] = {}
        sizes.clear()
        sizes.update({key: value for key, value in given.items() if isinstance(value, int)})
        for scalar in described.scalars:
            symbol = scalar.symbol or scalar.name
            if symbol in given:
                value = given[symbol]
            elif symbol in few:
                value = sizes[symbol]
            else:
                value = _scalar(described.function, scalar, rng, least, most)
            if isinstance(value, int):
                sizes[symbol] = value
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
        holds = all(holds_rule(rule, sizes) for tensor in described.tensors for rule in tensor.rules)
    prepare = _prepare(name)
    if prepare is not None and all(array.size for array in made.values() if isinstance(array, np.ndarray)):
        prepare(made, rng)
    settings = getattr(oracle, "settings", None)
    return Made(made, outputs, {} if settings is None else settings(name, made))


#: Elements of all arrays of a large call together: enough for several threads, few enough for the
#: simulator.
_LARGE = 150_000


def large(name: str, rng: np.random.Generator, dtype: str) -> list[dict[str, Any]]:
    """Arguments of calls with about `_LARGE` elements, one for each value of an enumeration."""
    own = getattr(importlib.import_module(f"pymluops.oracle.{family_of(name)}"), "large", None)
    if own is not None:
        return list(own(rng))
    calls = [make_large(name, rng, dtype).arguments]
    for scalar in families.OPERATORS[name].scalars:
        if scalar.choices:
            calls = [{**arguments, scalar.name: choice} for arguments in calls for choice in scalar.choices]
    return calls


def from_way(way: Way) -> Made:
    """The arguments of a way through a kernel, in float32 where there is a choice; no huge one."""
    if way.made is not None:
        return Made(*way.made)
    rng = np.random.default_rng(5)
    made = make(way.operator, rng, dtype="float32", given={**way.sizes, **way.scalars})
    for name, content in way.arrays.items():
        made.arguments[name][...] = content
    if way.change is not None:
        way.change(made.arguments, rng)
    return made


def ways(size: int) -> list[Way]:
    """Calls of all operators, on every way through their kernels, with about `size` thousand values each."""
    found: list[Way] = []
    for family in families.FAMILIES:
        own = getattr(importlib.import_module(f"pymluops.oracle.{family}"), "ways", None)
        if own is not None:
            found += own(size)
            continue
        for name in families.operators(family):
            made = make_large(name, np.random.default_rng(6), "float32", 1000 * size)
            found.append(Way(name, "large", made=(made.arguments, made.outputs, made.settings)))
    return found


def other_ways(kind: str) -> list[Way]:
    """The calls of a kind, "phases" or "endless", of the oracles that have some."""
    modules = [importlib.import_module(f"pymluops.oracle.{family}") for family in families.FAMILIES]
    return [way for module in modules if hasattr(module, kind) for way in getattr(module, kind)()]


def make_large(name: str, rng: np.random.Generator, dtype: str, elements: int = _LARGE) -> Made:
    """Arguments with about this number of elements."""
    most, found = 4, make(name, rng, 4, dtype)
    while most < 64:
        most += 1 + most // 8
        made = make(name, rng, most, dtype, least=most // 2)
        sizes = [array.size for array in made.arguments.values() if isinstance(array, np.ndarray)]
        if sum(sizes) + sum(int(np.prod(shape)) for shape, _ in made.outputs.values()) > elements:
            break
        found = made
    return found


def dtypes(name: str) -> list[str]:
    """The types that the first array of an operator may have."""
    kinds = families.OPERATORS[name].tensors[0].dtype
    assert isinstance(kinds, tuple)
    return [type_name(data_type) for data_type in kinds]


class _Sizes(dict[str, int]):
    """The values of symbols, drawn where they are first asked for."""

    def __init__(
        self, rng: np.random.Generator, least: int, most: int, zeros: float, few: Mapping[str, tuple[int, ...]]
    ) -> None:
        super().__init__()
        self._rng, self._least, self._most, self._zeros, self._few = rng, least, most, zeros, few

    def __missing__(self, symbol: str) -> int:
        if symbol in self._few:
            self[symbol] = int(self._rng.choice(self._few[symbol]))
            return self[symbol]
        empty = self._zeros and self._rng.random() < self._zeros
        self[symbol] = 0 if empty else int(self._rng.integers(self._least, self._most + 1))
        return self[symbol]

    def of(self, term: str) -> int:
        """The value of a term."""
        return value_of(term, self)


def value_of(term: str, sizes: Mapping[str, int]) -> int:
    """The value of a term of a shape or a rule."""
    product, _, addend = term.partition("+")
    size = 1
    for factor in product.split("*"):
        size *= int(factor) if factor.isdigit() else sizes[factor]
    return size + int(addend or 0)


#: What may stand between the terms of a rule.
RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "divides": lambda a, b: a != 0 and b % a == 0, "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge, "in": operator.eq,
}  # fmt: skip


def holds_rule(rule: str, sizes: Mapping[str, int]) -> bool:
    """Whether a rule holds: the relation of its first term with one of the others."""
    left, relation, *right = rule.split()
    first, *others = (value_of(term, sizes) for term in (left, *right))
    return any(RELATIONS[relation](first, other) for other in others)


def _scalar(function: str, scalar: Scalar, rng: np.random.Generator, least: int, most: int) -> Any:
    if scalar.choices:
        return str(rng.choice(list(scalar.choices)))
    kind = {name: kind for kind, name in PARAMETERS[function][2]}.get(scalar.c_name, "int")
    if kind == "bool":
        return bool(rng.integers(2))
    if kind in ("float", "double"):
        low = -2.0 if scalar.minimum is None else float(scalar.minimum)
        return float(rng.uniform(low, min(low + 4, float("inf") if scalar.maximum is None else scalar.maximum)))
    low = max(1 if scalar.minimum is None else int(scalar.minimum), least)
    high = max(low, most)
    if scalar.maximum is not None:
        low, high = min(low, int(scalar.maximum)), min(high, int(scalar.maximum))
    return int(rng.integers(low, high + 1))


def _kind(
    tensor: Tensor,
    made: dict[str, Any],
    outputs: dict[str, tuple[tuple[int, ...], str]],
    rng: np.random.Generator,
    dtype: str | None,
) -> str:
    """The type of an array: `dtype` where it may choose and has that one."""
    if isinstance(tensor.dtype, tuple):
        names = [type_name(data_type) for data_type in tensor.dtype]
        if tensor.output:
            return names[0]
        return dtype if dtype in names else str(rng.choice(names))
    other = tensor.dtype.other if isinstance(tensor.dtype, Pairs) else tensor.dtype
    first = made[other].dtype.name if other in made else outputs[other][1]
    if isinstance(tensor.dtype, Pairs):
        return next(type_name(b) for a, b in tensor.dtype.allowed if type_name(a) == first)
    return first


def _array(tensor: Tensor, shape: tuple[int, ...], kind: str, sizes: _Sizes, rng: np.random.Generator) -> np.ndarray:
    if kind.startswith("float"):
        return rng.normal(0, 2, shape).astype(kind)
    if not tensor.within:
        return rng.integers(-6, 7, shape).astype(kind)
    limits = [max(sizes[symbol], 1) for symbol in tensor.within]
    return rng.integers(0, limits if len(limits) > 1 else limits[0], shape).astype(kind)


class Settings(_core.SettingsDescriptor):
    """A descriptor of a kind, as ``Carafe``, that was set to values by the names of the parameters."""

    def __init__(self, kind: str, values: Mapping[str, Any], backend: Any = None) -> None:
        self._create(kind, backend)
        function = next(
            name for name in (f"mluOpSet{kind}Descriptor{end}" for end in ("_v2", "")) if name in PARAMETERS
        )
        self._set(function, *(values[name] for _, name in PARAMETERS[function][2][1:]))


def settings_of(known: Operator, arguments: Mapping[str, Any], backend: Any = None) -> tuple[Settings, ...]:
    """The descriptors with settings that a call of an operator takes."""
    find = getattr(importlib.import_module(f"pymluops.oracle.{family_of(known.name)}"), "settings", None)
    values = {} if find is None else find(known.name, arguments)
    kinds = {name: kind.removeprefix("const ") for kind, name in PARAMETERS[known.function][2]}
    stems = {name: kinds[name].removeprefix("mluOp").removesuffix("Descriptor_t") for name in values}
    return tuple(Settings(stems[name], given, backend) for name, given in values.items())


def scalar_values(known: Operator, made: Mapping[str, Any]) -> list[Any]:
    """The values of the scalars in their order, those of a tuple one by one, choices as numbers; None if not given."""
    parts = {key: list(value) for key, value in made.items() if isinstance(value, tuple)}
    values = [parts[s.name].pop(0) if s.name in parts else made.get(s.name) for s in known.scalars]
    return [scalar.choices.get(value, value) for scalar, value in zip(known.scalars, values, strict=True)]


def call(name: str, made: dict[str, Any], **keywords: Any) -> tuple[Any, ...]:
    """Call the Python function; the results, always as a tuple."""
    more = getattr(importlib.import_module(f"pymluops.oracle.{family_of(name)}"), "KEYWORDS", {}).get(name, {})
    found = getattr(pymluops, name)(**{**more, **made}, **keywords)
    if found is None:  # all that it writes is changed in place
        return ()
    return found if isinstance(found, tuple) else (found,)


def sums(name: str) -> bool:
    """Whether results are sums, which a device may round or order in its own way (SUMS of the oracle)."""
    return name in getattr(importlib.import_module(f"pymluops.oracle.{family_of(name)}"), "SUMS", ())


def outputs(name: str) -> list[Tensor]:
    """The outputs of an operator, in the order of its results."""
    return [tensor for tensor in families.OPERATORS[name].tensors if tensor.output]
