"""The sizes that the shapes of a case have in common, by the description of its operator."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from pymluops.gencase._binding import Bound, bind
from pymluops.gencase._file import CaseFile, CaseTensor
from pymluops.gencase._reference import description_of

__all__ = ["Changed", "Sizes", "sizes_of"]


@dataclass(frozen=True)
class Changed:
    """Shapes of the tensors of a case in their order, and parameters of its message, after a change."""

    shapes: list[tuple[int, ...]]
    message: str
    parameters: dict[str, int]


@dataclass
class Sizes:
    """Sizes by their symbols.

    Attributes
    ----------
    values : dict of str to int
        The sizes.
    terms : list of tuple of str
        The terms of the shape of each tensor, in the order of the file.
    parameters : dict of str to str
        Parameters of the case by the symbols that they give a value.
    """

    message: str
    values: dict[str, int] = field(default_factory=dict[str, int])
    terms: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    parameters: dict[str, str] = field(default_factory=dict[str, str])

    def changed(self, symbol: str, target: int) -> Changed | None:
        """Return the shapes with another size, None if that would make one larger or nothing smaller."""
        sizes = {**self.values, symbol: target}
        shapes = [tuple(_value(term, sizes) for term in terms) for terms in self.terms]
        parameter = self.parameters.get(symbol)
        return Changed(shapes, self.message, {} if parameter is None else {parameter: target})


def sizes_of(case: CaseFile) -> Sizes | None:
    """Return the sizes of a case, None if its operator has no description or a shape is another."""
    bound = bind(case)
    operator = description_of(bound.function)
    if operator is None:
        return None
    terms = {tensor.parameter or tensor.name: tuple(tensor.shape.split()) for tensor in operator.tensors}
    sizes = Sizes(bound.operator.message)
    sources = {parameter.source: parameter.name for parameter in bound.operator.parameters}
    for scalar in operator.scalars:
        value = bound.numbers.get(scalar.c_name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0 and scalar.c_name in sources:
            sizes.values[scalar.symbol or scalar.name] = value
            sizes.parameters[scalar.symbol or scalar.name] = sources[scalar.c_name]
    names = _names(bound, case)
    if names is None or any(name not in terms for name in names):
        return None
    tensors = [*case.inputs, *case.outputs]
    for name, tensor in zip(names, tensors, strict=True):
        sizes.terms.append(terms[name])
        if len(terms[name]) != len(tensor.shape):
            return None
        for term, dim in zip(terms[name], tensor.shape, strict=True):
            if term.isidentifier():
                sizes.values.setdefault(term, dim)
    used = {symbol for shape in sizes.terms for term in shape for symbol in _symbols(term)}
    if not used <= sizes.values.keys():
        return None
    sizes.values = {symbol: value for symbol, value in sizes.values.items() if symbol in used and value > 1}
    shapes = [tuple(_value(term, sizes.values) for term in shape) for shape in sizes.terms]
    return sizes if shapes == [tensor.shape for tensor in tensors] else None


def _names(bound: Bound, case: CaseFile) -> list[str] | None:
    """Return the arguments of the tensors in the order of the file, None if one has none."""
    both: list[tuple[str, CaseTensor | None]] = [*bound.inputs.items(), *bound.outputs.items()]
    found = {id(tensor.message): name for name, tensor in both if tensor is not None}
    names = [found.get(id(tensor.message)) for tensor in (*case.inputs, *case.outputs)]
    return None if None in names else [name for name in names if name is not None]


def _symbols(term: str) -> list[str]:
    return [factor for part in term.split("+") for factor in part.split("*") if factor.isidentifier()]


def _value(term: str, sizes: Mapping[str, int]) -> int:
    """Return the value of a term; symbols that are not there are 1."""
    return sum(
        math.prod(int(factor) if factor.isdigit() else sizes.get(factor, 1) for factor in part.split("*"))
        for part in term.split("+")
    )
