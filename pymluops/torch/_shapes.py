"""Shapes of a description (`pymluops.ops._schema`) for sizes that torch may know only as symbols."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

__all__ = ["Term", "are_known", "match", "read_shape", "shape_of"]


@dataclass(frozen=True)
class Term:
    """A dim: ``coefficient`` times the product of ``factors``, plus ``addend``."""

    coefficient: int
    factors: tuple[str, ...]
    addend: int

    @property
    def symbol(self) -> str:
        """The symbol that is all there is to it; empty if it is not that simple."""
        alone = len(self.factors) == 1 and self.coefficient == 1 and self.addend == 0
        return self.factors[0] if alone else ""

    def value(self, values: dict[str, Any]) -> Any:
        """The size, given the values of all its symbols."""
        return math.prod((values[name] for name in self.factors), start=self.coefficient) + self.addend


def read_shape(text: str) -> tuple[Term, ...]:
    """Read the terms of a shape."""
    return tuple(_read_term(term) for term in text.split())


def _read_term(text: str) -> Term:
    product, _, addend = text.partition("+")
    factors = product.split("*")
    numbers = [int(factor) for factor in factors if factor.isdigit()]
    return Term(math.prod(numbers), tuple(name for name in factors if not name.isdigit()), int(addend or 0))


def shape_of(terms: Sequence[Term], values: dict[str, Any]) -> list[Any]:
    """Return the sizes that terms have."""
    return [term.value(values) for term in terms]


def are_known(arguments: Sequence[Any]) -> bool:
    """Tell whether all sizes of tensors, and all other arguments, are plain numbers."""
    for argument in arguments:
        sizes = argument.shape if isinstance(argument, torch.Tensor) else (argument,)
        if not all(isinstance(size, (int, float)) for size in sizes):
            return False
    return True


def match(place: str, sizes: Sequence[Any], terms: Sequence[Term], values: dict[str, Any]) -> None:
    """Compare sizes with their terms; a symbol without a value takes it from here.

    Raises
    ------
    ValueError
        If they do not agree.
    """

    def wrong() -> str:
        wanted = " ".join("*".join(filter(None, (str(t.coefficient), *t.factors))) for t in terms)
        return f"{place}: expected a shape like {wanted}, got {list(sizes)}"

    torch._check_value(len(sizes) == len(terms), wrong)
    for size, term in zip(sizes, terms, strict=True):
        unknown = [name for name in term.factors if name not in values]
        if not unknown:
            torch._check_value(size == term.value(values), wrong)
            continue
        known: Any = math.prod((values[name] for name in term.factors if name in values), start=term.coefficient)
        if isinstance(known, int) and known == 1:
            values[unknown[0]] = size - term.addend if term.addend else size
        else:
            torch._check_value((size - term.addend) % known == 0, wrong)
            values[unknown[0]] = (size - term.addend) // known
