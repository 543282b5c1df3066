"""Declarations of functions of ``mmcv._ext``, and the functions made of them.

A function of ``mmcv._ext`` that calls one operator of the library is declared by its arguments, in
mmcv's order: which array or scalar of the operator each is, its layout, its type, whether it is
written. Checks, messages, casts and copies follow from the declaration. Results are written into
the tensors given, whatever their strides and whatever they hold; a compiled mmcv adds gradients to
tensors that its callers have filled with zeros, which gives the same.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, NamedTuple

from pymluops._core import Operator
from pymluops.enums import DataType
from pymluops.errors import MluOpError
from pymluops.mmcv._fitting import ShapeError, call_again
from pymluops.mmcv._kernels import run
from pymluops.mmcv._shapes import NOTHING, Shape
from pymluops.mmcv._tensors import (
    FLOATS,
    as_runtime_error,
    check_tensors,
    compute_type,
    dense,
    is_ready,
    refuse,
    refuse_tracing,
    unseen_by_compilers,
    whole_number,
    writable,
)
from pymluops.mmcv._torch import load_torch
from pymluops.ops._described import described
from pymluops.ops._double import allowed_types, is_floating

__all__ = ["Array", "Call", "Number", "Returned", "Row", "binding", "indices", "integers", "result", "values"]


class Row(NamedTuple):
    """A row of the table of ``python -m pymluops.mmcv``.

    Attributes
    ----------
    operators : str
        Names in `mmcv.ops`.
    functions : tuple of str
        The functions of ``mmcv._ext`` behind them.
    directions : str
        Forward, or forward and backward.
    library : str
        What computes it: functions of the C library with the types of their kernels, or PyTorch.
    note : str
        What a user has to know.
    dtypes : str
        Types of values taken.
    """

    operators: str
    functions: tuple[str, ...]
    directions: str
    library: str
    note: str = ""
    dtypes: str = "float16, bfloat16, float32, float64"


@dataclass(frozen=True)
class Array:
    """A tensor among the arguments.

    Attributes
    ----------
    name : str
        As in mmcv's binding.
    shape : str
        Its dims, separated by spaces: numbers, and symbols, whose values are those of the number of
        the same name or of the dim where they come first; and products of both.
    to : str
        The array of the operator. Empty: the operator has none.
    types : tuple of str
        Names of the types allowed. The floating arrays of a call have one type.
    order : tuple of int
        Which dim of the tensor is each dim of the operator's array; empty if they are in the same
        order.
    view : str
        The shape that the operator's array has for the same values in the same order.
    written : bool
        It is a result.
    """

    name: str
    shape: str
    to: str = ""
    types: tuple[str, ...] = FLOATS
    order: tuple[int, ...] = ()
    view: str = ""
    written: bool = False


@dataclass(frozen=True)
class Number:
    """A number among the arguments: an integer, or a floating one. `least` is the least value allowed."""

    name: str
    real: bool = False
    least: float | None = None
    choices: Mapping[int, str] = field(default_factory=dict[int, str])


@dataclass(frozen=True)
class Returned:
    """A new tensor that the function returns: the output `to` of the operator in another shape."""

    to: str
    shape: str


def values(name: str, shape: str, to: str, **options: Any) -> Array:
    """Declare a floating input."""
    return Array(name, shape, to, **options)


def indices(name: str, shape: str, to: str, **options: Any) -> Array:
    """Declare an input of int32."""
    return Array(name, shape, to, ("int32",), **options)


def result(name: str, shape: str, to: str, **options: Any) -> Array:
    """Declare a tensor that the function writes."""
    return Array(name, shape, to, written=True, **options)


def integers(names: str) -> tuple[Number, ...]:
    """Declare integers."""
    return tuple(Number(name) for name in names.split())


@dataclass
class Call:
    """The arguments of a call, by name, and the values of the symbols in their shapes."""

    function: str
    arguments: dict[str, Any]
    sizes: dict[str, int]

    def refuse(self, argument: str, expected: str, found: object) -> RuntimeError:
        """Return the error for an argument that is not as expected."""
        return refuse(self.function, argument, expected, found)


def binding(
    name: str,
    operator: str,
    *declared: Array | Number,
    returns: Returned | None = None,
    scalars: Mapping[str, Callable[[Call], Any]] | None = None,
    check: Callable[[Call], None] | None = None,
    empty: str = "refuse",
) -> Callable[..., Any]:
    """Return a function of ``mmcv._ext``.

    Parameters
    ----------
    name : str
        Its name.
    operator : str
        Name of the operator of `pymluops.ops` that computes it.
    *declared : Array or Number
        Its arguments, in mmcv's order.
    returns : Returned, optional
        What it returns; without it, None.
    scalars : mapping of str to function, optional
        Scalars of the operator that are neither numbers among the arguments nor symbols, by name,
        or by symbol where several have one name.
    check : function, optional
        Raises for what the declarations do not say.
    empty : str
        What happens if an input has no values and a result has: the results become zeros ("zero"),
        stay as they are ("keep"), or the library refuses the call ("refuse").
    """
    made = _Plan(name, described(operator), declared, returns, dict(scalars or {}), check, empty)
    shapes = {one.name: one.shape for one in declared if isinstance(one, Array)}

    def call(*args: Any, **kwargs: Any) -> Any:
        refuse_tracing(name)
        try:
            try:
                return made.run(args, kwargs)
            except ShapeError as refusal:
                return call_again(lambda *given: made.run(given, {}), made.bound(args, kwargs), shapes, refusal)
        except MluOpError as error:
            raise as_runtime_error(name, error) from error

    call.__name__ = call.__qualname__ = name
    call.__module__ = "mmcv._ext"
    call.__doc__ = f"Compute {described(operator).function}, of mlu-ops, on tensors as mmcv has them."
    call.__dict__["__signature__"] = made.signature
    return unseen_by_compilers(call)


# ---- Calls ---------------------------------------------------------------------------------------


class _Given(NamedTuple):
    """An array of the operator that is a tensor among the arguments."""

    place: int
    floating: bool
    written: bool
    order: tuple[int, ...]
    view: Shape | None


class _Plan:
    """What is done in a call, all of which follows from the declaration; see `binding`."""

    def __init__(
        self,
        name: str,
        operator: Operator,
        declared: Sequence[Array | Number],
        returns: Returned | None,
        scalars: dict[str, Callable[[Call], Any]],
        check: Callable[[Call], None] | None,
        empty: str,
    ) -> None:
        self._name, self._operator, self._check, self._empty = name, operator, check, empty
        self._names = tuple(one.name for one in declared)
        self.signature = inspect.Signature([_parameter(one) for one in declared])
        arrays = [(place, one) for place, one in enumerate(declared) if isinstance(one, Array)]
        numbers = [(place, one) for place, one in enumerate(declared) if isinstance(one, Number)]
        self._integers = tuple((place, one.name) for place, one in numbers if not one.real)
        self._limited = tuple((place, one) for place, one in numbers if one.choices or one.least is not None)
        firsts = {one.types: place for place, one in reversed(arrays)}
        #: Each tensor with the first one that has the same types.
        self._typed = sorted([(place, firsts[one.types]) for place, one in arrays], key=itemgetter(1))
        self._allowed = {first: types for types, first in firsts.items()}
        self._floating = firsts[FLOATS]
        known = {*NOTHING} | {name for _, name in self._integers}
        self._shapes = tuple((place, Shape(one.shape, known)) for place, one in arrays)
        self._results = tuple(place for place, one in arrays if one.written)
        self._inputs = tuple(place for place, one in arrays if not one.written)
        self._plan_tensors({one.to: (place, one) for place, one in arrays if one.to}, returns, known)
        self._plan_scalars(scalars)
        # `_load` fills these.
        self._tensor_type: Any = None
        self._index_type: Any = None
        self._layout: Any = None
        self._kinds: dict[Any, Any] = {}
        self._types: dict[int, frozenset[Any]] = {}

    def _plan_tensors(self, given: dict[str, tuple[int, Array]], returns: Returned | None, known: set[str]) -> None:
        """Say where each array of the operator comes from, and where new results go."""
        tensors = self._operator.tensors
        assert given.keys() <= {tensor.name for tensor in tensors}, self._name
        self._tensors: list[_Given | None] = []
        self._ordered: list[tuple[int, int, tuple[int, ...]]] = []
        self._returned, self._return_shape = 0, None if returns is None else Shape(returns.shape, known)
        outputs = [tensor.name for tensor in tensors if tensor.output]
        self._several = len(outputs) > 1
        for tensor in tensors:
            place, one = given.get(tensor.name, (0, None))
            if one is None or (one.written and one.order):
                self._tensors.append(None)
            else:
                view = Shape(one.view, known) if one.view else None
                self._tensors.append(_Given(place, is_floating(self._operator, tensor), one.written, one.order, view))
            if one is not None and one.written and one.order:
                self._ordered.append((outputs.index(tensor.name), place, _inverse(one.order)))
            if returns is not None and tensor.name == returns.to:
                self._returned = outputs.index(tensor.name)

    def _plan_scalars(self, given: dict[str, Callable[[Call], Any]]) -> None:
        """Say where each scalar of the operator comes from: a function, an argument, or a symbol."""
        self._scalars: list[Callable[[Call], Any] | int | str] = []
        for scalar in self._operator.scalars:
            name = scalar.symbol or scalar.name
            argument = self._names.index(name) if name in self._names else name
            self._scalars.append(given.get(name, given.get(scalar.name, argument)))
        self._needs_call = self._check is not None or bool(given)

    def _load(self) -> None:
        """Look up the types, which needs PyTorch."""
        torch = load_torch()
        native = [getattr(torch, name) for name in _native_types(self._operator)]
        self._kinds = {getattr(torch, name): compute_type(getattr(torch, name), *native) for name in FLOATS}
        self._index_type, self._tensor_type, self._layout = torch.int32, torch.Tensor, torch.strided
        self._types = {
            first: frozenset(getattr(torch, name) for name in names) for first, names in self._allowed.items()
        }

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the operator."""
        if not self._types:
            self._load()
        given = self._bound(args, kwargs)
        self._check_types(given)
        sizes = self._check_numbers(given)
        for place, shape in self._shapes:
            found = given[place].shape
            if not shape.agrees(found, sizes):
                raise ShapeError(refuse(self._name, self._names[place], shape.shown(sizes), f"shape {list(found)}"))
        call: Any = None
        if self._needs_call:
            call = Call(self._name, dict(zip(self._names, given, strict=True)), sizes)
            if self._check is not None:
                self._check(call)
        if self._results and not any(given[place].numel() for place in self._results):
            return None
        if self._empty != "refuse" and not all(given[place].numel() for place in self._inputs):
            return self._nothing(given, sizes)
        return self._compute(call, given, sizes)

    # -- Checks ------------------------------------------------------------------------------------

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments by name, integers as such."""
        given = dict(zip(self._names, self._bound(args, kwargs), strict=True))
        return given | {name: whole_number(self._name, name, given[name]) for _, name in self._integers}

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Return the arguments in their order."""
        names = self._names[len(args) :]
        if len(names) == len(kwargs) and len(args) <= len(self._names):
            try:
                return [*args, *[kwargs[name] for name in names]]
            except KeyError:
                pass  # the signature refuses them
        try:
            return list(self.signature.bind(*args, **kwargs).arguments.values())
        except TypeError as error:
            raise TypeError(f"{self._name}: {error}") from None

    def _check_types(self, given: list[Any]) -> None:
        for place, first in self._typed:
            tensor = given[place]
            if isinstance(tensor, self._tensor_type) and tensor.is_cpu and tensor.layout is self._layout:
                dtype = tensor.dtype
                if dtype in self._types[first] if place == first else dtype is given[first].dtype:
                    continue
            alike = [other for other, one in self._typed if one == first]
            check_tensors(self._name, self._allowed[first], {self._names[other]: given[other] for other in alike})

    def _check_numbers(self, given: list[Any]) -> dict[str, int]:
        """Return the values of symbols that are numbers among the arguments."""
        sizes = dict(NOTHING)
        for place, name in self._integers:
            value = given[place]
            if type(value) is not int:
                value = given[place] = whole_number(self._name, name, value)
            sizes[name] = value
        for place, one in self._limited:
            value = given[place]
            if one.choices and value not in one.choices:
                meanings = " or ".join([f"{number} ({meaning})" for number, meaning in one.choices.items()])
                raise refuse(self._name, one.name, meanings, value)
            if one.least is not None and not value >= one.least:
                expected = f"{'a number of ' if one.real else ''}at least {one.least:g}"
                raise refuse(self._name, one.name, expected, value)
        return sizes

    # -- Computing ---------------------------------------------------------------------------------

    def _nothing(self, given: list[Any], sizes: dict[str, int]) -> Any:
        """Return or write what a call without values gives."""
        if self._empty == "zero":
            for place in self._results:
                given[place].detach().zero_()
        if self._return_shape is None:
            return None
        return given[self._inputs[0]].new_zeros(self._return_shape.of(sizes))

    def _compute(self, call: Any, given: list[Any], sizes: dict[str, int]) -> Any:
        given_type = given[self._floating].dtype
        kind = self._kinds[given_type]
        tensors: list[Any] = []
        copied: list[tuple[Any, Any]] = []  # results, and what the operator writes in place of each
        for one in self._tensors:
            if one is None:
                tensors.append(None)
                continue
            place, floating, written, order, view = one
            tensor, wanted = given[place], kind if floating else self._index_type
            if order or not is_ready(tensor, wanted):
                plain = tensor.detach()
                if written:
                    tensor = writable(plain, wanted)
                    if tensor is not plain:
                        copied.append((plain, tensor))
                else:
                    tensor = dense(plain.permute(order) if order else plain, wanted)
            tensors.append(tensor if view is None else tensor.view(view.of(sizes)))
        scalars = tuple(
            [
                key(call) if callable(key) else given[key] if isinstance(key, int) else sizes[key]
                for key in self._scalars
            ]
        )
        found: Any = run(self._operator, tuple(tensors), scalars)
        for target, made in copied:
            target.copy_(made)
        for number, place, order in self._ordered:
            made = found[number] if self._several else found
            given[place].detach().copy_(made.permute(order))
        if self._return_shape is None:
            return None
        made = found[self._returned] if self._several else found
        # Not a view: PyTorch refuses in-place operations on a view that an autograd function
        # returns.
        return made.resize_(self._return_shape.of(sizes)).to(given_type)


def _parameter(one: Array | Number) -> inspect.Parameter:
    annotation = "Tensor" if isinstance(one, Array) else "float" if one.real else "int"
    return inspect.Parameter(one.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation)


def _native_types(operator: Operator) -> tuple[str, ...]:
    """Return the floating types that the library computes in itself, without float64."""
    names = {DataType.FLOAT: "float32", DataType.HALF: "float16"}
    allowed = [allowed_types(operator, tensor) for tensor in operator.tensors if is_floating(operator, tensor)]
    return tuple(name for dtype, name in names.items() if dtype in allowed[0])


def _inverse(order: Sequence[int]) -> tuple[int, ...]:
    return tuple(order.index(i) for i in range(len(order)))
