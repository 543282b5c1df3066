"""Shapes of arguments in declarations, read once and compared with those of tensors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

__all__ = ["NOTHING", "Shape"]

#: The values of terms before the first one is known.
NOTHING: Mapping[str, int] = {"": 0}


class _Product(NamedTuple):
    """A term of a shape that is not a symbol alone: a number, or a number times symbols."""

    text: str
    coefficient: int
    symbols: tuple[str, ...]

    @classmethod
    def read(cls, text: str) -> _Product:
        factors = text.split("*")
        numbers = [int(factor) for factor in factors if factor.isdigit()]
        return cls(text, math.prod(numbers), tuple(factor for factor in factors if not factor.isdigit()))

    def value(self, sizes: Mapping[str, int]) -> int:
        """The size, given the values of all its symbols."""
        return math.prod([sizes[name] for name in self.symbols]) * self.coefficient


class _Solved(NamedTuple):
    """A symbol whose value follows from a dim, and the other factors of that."""

    symbol: str
    dim: int
    others: _Product


class Shape:
    """The shape of an array, read once.

    Parameters
    ----------
    text : str
        The terms.
    known : set of str
        Terms that have values before; all terms of this shape are added.
    """

    def __init__(self, text: str, known: set[str]) -> None:
        self.terms = text.split()
        self._known = frozenset(known)
        self._given: list[tuple[str, int]] = []  # symbols that are a dim
        self._solved: list[_Solved] = []
        products: list[_Product] = []
        for dim, term in enumerate(self.terms):
            product = _Product.read(term)
            unknown = [name for name in product.symbols if name not in known]
            if term in unknown:
                self._given.append((term, dim))
            elif unknown:
                others = tuple(name for name in product.symbols if name != unknown[0])
                self._solved.append(_Solved(unknown[0], dim, product._replace(symbols=others)))
            if term not in known and not term.isidentifier():
                products.append(product)
            known |= {term, *product.symbols}
        self._products = tuple(products)
        self._all_given = len(self._given) == len(self.terms)
        self._of = itemgetter(*self.terms, "", "")  # at least two keys, which give a tuple

    def agrees(self, found: Sequence[int], sizes: dict[str, int]) -> bool:
        """Tell whether a shape fits; terms without a value get one."""
        if len(found) != len(self.terms):
            return False
        for symbol, dim in self._given:
            sizes[symbol] = found[dim]
        if self._all_given:
            return True
        for symbol, dim, others in self._solved:
            product = others.value(sizes)
            sizes[symbol] = found[dim] // product if product else 0
        return self.of(sizes) == found

    def of(self, sizes: dict[str, int]) -> tuple[int, ...]:
        """Return the shape, given the values of all symbols."""
        for product in self._products:
            sizes[product.text] = product.value(sizes)
        found: tuple[int, ...] = self._of(sizes)[:-2]
        return found

    def shown(self, sizes: Mapping[str, int]) -> str:
        """Return the shape in a message, with the values that were known before it."""
        return f"shape [{', '.join(self._shown(term, sizes) for term in self.terms)}]"

    def _shown(self, term: str, sizes: Mapping[str, int]) -> str:
        product = _Product.read(term)
        if self._known.issuperset(product.symbols):
            return str(product.value(sizes))
        return "any" if term.isidentifier() else term
