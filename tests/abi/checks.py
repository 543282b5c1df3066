"""What becomes of a call, found from the description of its operator and from REFUSALS of its oracle.

The library is not asked. `outcome` says which status a call must give and which arguments its
reason may name.
"""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from abi.c_objects import packed
from abi.facts import BAD_PARAM, DTYPES, LAYOUTS, NOT_SUPPORTED, PROTOTYPES, SUCCESS
from abi.operator_call import Problem, Tensor
from pymluops._core import Operator
from pymluops.errors import BadParamError
from pymluops.ops._double import allowed_types, is_floating
from pymluops.ops._schema import Pairs, Scalar
from pymluops.ops._schema import Tensor as TensorArgument
from pymluops.oracle.refusals import ANY_LAYOUT, SIZE_ORDER, Check, Refusals
from support import described, families

_LAYOUT_NAMES = {value: name for name, value in LAYOUTS.items()}

#: The operators by their C functions, and by those that tell the sizes of their workspaces.
OPERATORS: dict[str, Operator] = {known.function: known for known in families.OPERATORS.values()} | {
    known.workspace: known for known in families.OPERATORS.values() if known.workspace is not None
}


class Outcome(NamedTuple):
    """What a call gives."""

    status: int
    arguments: tuple[str, ...] = ()
    #: what num_act_out tells after a refusal for want of output rows
    rows_needed: int | None = None


@functools.cache
def refusals(function: str) -> Refusals:
    """How a C function refuses, by the oracle of its family."""
    known = OPERATORS[function]
    oracle = importlib.import_module(f"pymluops.oracle.{described.family_of(known.name)}")
    default = Refusals() if function == known.function else Refusals(order=SIZE_ORDER)
    found = getattr(oracle, "REFUSALS", {}).get(function, default)
    assert isinstance(found, Refusals)
    return found


def outcome(problem: Problem) -> Outcome:
    """The first check that fails decides about the status; a reason may name what fails with the same status."""
    failing = [check for check in _Checks(problem).in_order() if not check.holds]
    if not failing:
        return Outcome(SUCCESS)
    first = failing[0]
    same = [check for check in failing if check.status == first.status]
    return Outcome(first.status, tuple(name for check in same for name in check.arguments), first.rows_needed)


def status_of(problem: Problem) -> int:
    """The status alone, for which the checks behind the first one that fails do not matter."""
    return next((check.status for check in _Checks(problem).in_order() if not check.holds), SUCCESS)


def sizes(problem: Problem) -> dict[str, int]:
    """The values of the symbols in a legal call."""
    return _Checks(problem).sizes


_Named = Iterable[tuple[str, Check]]


@functools.cache
def _steps(order: str) -> list[tuple[str, str, frozenset[str]]]:
    """The steps of an order: a kind, the argument that it is about or "", the arguments with a step of their own."""
    found: list[tuple[str, str]] = []
    for token in order.split():
        kind, _, argument = token.partition(":")
        found.append(("positive", token.removesuffix(">0")) if token.endswith(">0") else (kind, argument))
    apart = {kind: frozenset(argument for other, argument in found if other == kind) - {""} for kind, _ in found}
    return [(kind, argument, apart[kind]) for kind, argument in found]


class _Checks:
    """All checks of one call by kind."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.known, self.refusals = OPERATORS[problem.function], refusals(problem.function)
        named = {tensor.parameter or tensor.name: tensor for tensor in self.known.tensors}
        self.tensors = {key: tensor for key, tensor in named.items() if key in problem.tensors}
        self.parameters = {
            param["name"]: param["type"].removeprefix("const ") for param in PROTOTYPES[problem.function]["params"]
        }
        self.sizes: dict[str, int] = dict(self.refusals.symbols(problem)) if self.refusals.symbols else {}
        for scalar in self.known.scalars:
            value = problem.values.get(scalar.c_name)
            if isinstance(value, int) and not isinstance(value, bool):
                self.sizes.setdefault(scalar.symbol or scalar.name, value)
        self.misfits = self._bind()

    def in_order(self) -> Iterator[Check]:
        """The checks in the order in which the function makes them."""
        kinds: dict[str, Callable[[], _Named]] = self._kinds()
        if self.refusals.checks is not None and not self._broken():
            more = self.refusals.checks(self.problem, self.sizes)
            kinds |= {kind: lambda checks=checks: [("", check) for check in checks] for kind, checks in more.items()}
        made: dict[str, list[tuple[str, Check]]] = {}
        for kind, argument, apart in _steps(self.refusals.order):
            if kind == "empty":
                if any(not tensor.elements for key, tensor in self.problem.tensors.items() if self._given(key)):
                    return
                continue
            if kind not in made:
                made[kind] = list(kinds[kind]()) if kind in kinds else []
            for name, check in made[kind]:
                if name == argument or (argument == "" and name not in apart):
                    yield check

    def _kinds(self) -> dict[str, Callable[[], _Named]]:
        return {
            "handle": lambda: [("", Check(self.problem.values.get("handle", "ok") == "ok", BAD_PARAM, ("handle",)))],
            "objects": self._objects,
            "optional": lambda: self._descriptors("optional", "ok", "null"),
            "pairs": self._pairs,
            "numbers": lambda: self._numbers("numbers", "null"),
            "aligned": lambda: self._numbers("aligned", "misaligned"),
            "pointer": lambda: [("", Check(self._has_place_for_size(), BAD_PARAM, ("workspace_size", "size")))],
            "scalars": self._scalars,
            "ranks": lambda: self._each("ranks", self._rank_fits),
            "shapes": lambda: self.misfits if self._has_step("rules") else [*self.misfits, *self._rules()],
            "rules": self._rules,
            "layouts": lambda: self._each("layouts", self._layout_fits),
            "packed": lambda: self._each("packed", lambda name: is_contiguous(self.problem.tensors[name])),
            "allowed": lambda: self._each("allowed", self._is_allowed),
            "types": self._types,
            "positive": self._positive,
            "indexable": lambda: self._each("indexable", self._indexable),
            "data": self._data,
            "workspace": self._workspace,
            "overlap": self._overlap,
        }

    def _has_step(self, kind: str) -> bool:
        return kind in self.refusals.order.split()

    # -- statuses and names ------------------------------------------------------------------------

    def _check(self, kind: str, holds: bool, *arguments: str, of: str = "") -> Check:
        usual = BAD_PARAM
        if kind == "packed" or (kind == "indexable" and self.known.too_large is not BadParamError):
            usual = NOT_SUPPORTED
        statuses = self.refusals.statuses
        return Check(holds, statuses.get(f"{kind}:{of}", statuses.get(kind, usual)), arguments)

    def _each(self, kind: str, holds: Callable[[str], bool]) -> Iterator[tuple[str, Check]]:
        """A check of each descriptor."""
        for name in self.tensors:
            if not self.problem.tensors[name].bare and self._given(name):
                kept = holds(name)
                relatives = [] if kept else self._relatives(name)
                yield name, self._check(kind, kept, f"{name}_desc", *relatives, of=name)

    def _relatives(self, name: str) -> list[str]:
        """Arguments that have a symbol in common with an array: a reason may compare it with these."""
        mine = _symbols(self.tensors[name].shape)
        others = [f"{key}_desc" for key, tensor in self.tensors.items() if mine & _symbols(tensor.shape)]
        scalars = [s.c_name for s in self.known.scalars if (s.symbol or s.name) in mine]
        return [*others, *scalars, *self.problem.settings]

    def _given(self, name: str) -> bool:
        tensor = self.problem.tensors[name]
        if name in self.refusals.empty_is_none and tensor.desc == "ok" and not tensor.elements:
            return False
        return not (self.tensors[name].optional and tensor.desc == tensor.data == "null")

    def _broken(self) -> bool:
        """Whether there is no descriptor where one must be, so that it has no dims."""
        made = all(tensor.desc == "ok" or not self._given(name) for name, tensor in self.problem.tensors.items())
        return not made or any(v.get("desc", "ok") not in ("ok", "unset") for v in self.problem.settings.values())

    # -- kinds -------------------------------------------------------------------------------------

    def _objects(self) -> Iterator[tuple[str, Check]]:
        for name, values in self.problem.settings.items():
            yield name, self._check("objects", values.get("desc", "ok") in ("ok", "unset"), name)
        yield from self._descriptors("objects", "ok")

    def _descriptors(self, kind: str, *legal: str) -> Iterator[tuple[str, Check]]:
        for name, tensor in self.problem.tensors.items():
            if not tensor.bare and self._given(name):
                yield name, self._check(kind, tensor.desc in legal, f"{name}_desc")

    def _pairs(self) -> Iterator[tuple[str, Check]]:
        for name, tensor in self.problem.tensors.items():
            if self.tensors[name].optional:
                whole = (tensor.desc == "null") == (tensor.data == "null")
                yield name, self._check("pairs", whole, name, f"{name}_desc", of=name)

    def _numbers(self, kind: str, wrong: str) -> Iterator[tuple[str, Check]]:
        for name, tensor in self.problem.tensors.items():
            if tensor.bare:
                yield name, self._check(kind, tensor.data != wrong, name)

    def _has_place_for_size(self) -> bool:
        return self.problem.values.get("workspace_size") != "null"

    def _scalars(self) -> Iterator[tuple[str, Check]]:
        for scalar in self.known.scalars:
            if scalar.c_name in self.problem.values:
                holds = _allows(scalar, self.parameters[scalar.c_name], self.problem.values[scalar.c_name])
                yield scalar.c_name, self._check("scalars", holds, scalar.c_name, of=scalar.c_name)

    def _rank_fits(self, name: str) -> bool:
        return len(self.problem.tensors[name].dims or ()) == len(self._terms(name))

    def _layout_fits(self, name: str) -> bool:
        wanted = self.tensors[name].layout.name
        allowed = self.refusals.layouts.get(name, ANY_LAYOUT if wanted == "ARRAY" else (wanted,))
        return allowed == ANY_LAYOUT or _layout(self.problem.tensors[name]) in allowed

    def _indexable(self, name: str) -> bool:
        return self.tensors[name].any_size or self.problem.tensors[name].elements < 2**31

    def _is_allowed(self, name: str) -> bool:
        return code(self.problem.tensors[name]) in types_of(self.known, self.tensors[name])

    def _types(self) -> Iterator[tuple[str, Check]]:
        for name, tensor in self.tensors.items():
            if self.problem.tensors[name].bare or not self._given(name):
                continue
            found = code(self.problem.tensors[name])
            if isinstance(tensor.dtype, tuple):
                yield name, self._check("types", found in types_of(self.known, tensor), f"{name}_desc", of=name)
                continue
            other = tensor.dtype.other if isinstance(tensor.dtype, Pairs) else tensor.dtype
            key = next((key for key, one in self.tensors.items() if one.name == other), None)
            if key is None:  # the function for the workspace does not take it
                continue
            first = code(self.problem.tensors[key])
            if isinstance(tensor.dtype, Pairs):
                holds = (first, found) in [(int(a), int(b)) for a, b in tensor.dtype.allowed]
            else:
                holds = first == found
            yield name, self._check("types", holds, f"{name}_desc", f"{key}_desc", of=name)

    def _positive(self) -> Iterator[tuple[str, Check]]:
        wanted = [(symbol, f"{name}_desc") for name, t in self.tensors.items() for symbol in t.positive.split()]
        for scalar in self.known.scalars:  # of the Python function alone: the C function finds the size in an array
            if scalar.c_name not in self.parameters and (scalar.minimum is None or scalar.minimum > 0):
                wanted.append((scalar.symbol or scalar.name, ""))
        for symbol, name in wanted:
            users = [f"{key}_desc" for key, one in self.tensors.items() if symbol in _symbols(one.shape)]
            yield symbol, self._check("positive", self.sizes.get(symbol) != 0, name, *users)

    def _unread(self) -> set[str]:
        """The arrays whose data is not looked at since a size is 0."""
        for symbol, read in self.refusals.empty.items():
            if self.sizes.get(symbol) == 0:
                return set(self.problem.tensors) - set(read.split())
        return set()

    def _data(self) -> Iterator[tuple[str, Check]]:
        unread = self._unread()
        for name, tensor in self.problem.tensors.items():
            if not tensor.bare and name not in unread and self._given(name):
                aligned = not isinstance(tensor.data, tuple) or tensor.data[1] % max(tensor.item_size, 1) == 0
                yield name, self._check("data", tensor.data not in ("null", "misaligned") and aligned, name)

    def _workspace(self) -> Iterator[tuple[str, Check]]:
        size = self.problem.values.get("workspace_size")
        if "workspace" not in self.problem.values or self._unread():
            return
        present = self.problem.values["workspace"] == "ok" or size == 0
        yield "workspace", self._check("workspace", present, "workspace")
        enough = size == "need" or (isinstance(size, tuple) and size[1] >= 0) or not self.refusals.needs_workspace
        yield "workspace_size", self._check("workspace", enough, "workspace_size", "workspace")

    def _overlap(self) -> Iterator[tuple[str, Check]]:
        """Tests place at most one tensor inside another one."""
        if self._unread() == set(self.problem.tensors):
            return
        for name, tensor in self.problem.tensors.items():
            if isinstance(tensor.data, tuple):
                other = self.problem.tensors[tensor.data[0]]
                apart = not (tensor.nbytes and other.nbytes) or not (tensor.written or other.written)
                yield name, self._check("overlap", apart, name, tensor.data[0])

    # -- shapes ------------------------------------------------------------------------------------

    def _terms(self, name: str) -> list[str]:
        tensor = self.problem.tensors[name]
        text = self.tensors[name].shape
        if self.refusals.shapes:
            text = self.refusals.shapes.get((name, _layout(tensor), len(tensor.dims or ())), text)
        terms, fixed = _split(text)
        self.sizes |= fixed
        return terms

    def _bind(self) -> list[tuple[str, Check]]:
        """Give every symbol the value that it has where it comes first; what disagrees is returned."""
        misfits: list[tuple[str, Check]] = []
        made = [name for name in self.tensors if self.problem.tensors[name].desc == "ok" and self._given(name)]
        wanted = [
            (name, term, dim)
            for name in made
            if not self.problem.tensors[name].bare and self._rank_fits(name)
            for term, dim in zip(self._terms(name), self.problem.tensors[name].dims or (), strict=True)
        ]
        # What is known at once comes first, then products with one unknown factor.
        for name, term, dim in sorted(wanted, key=lambda one: "*" in one[1] or "+" in one[1]):
            if not self._agrees(term, dim):
                arguments = [f"{name}_desc", *self._relatives(name)]
                misfits.append((name, self._check("shapes", False, *arguments, of=name)))
        return misfits

    def _agrees(self, term: str, dim: int) -> bool:
        product, _, addend = term.partition("+")
        dim -= int(addend or 0)
        known, unknown = 1, list[str]()
        for factor in product.split("*"):
            value = int(factor) if factor.isdigit() else self.sizes.get(factor)
            if value is None:
                unknown.append(factor)
            else:
                known *= value
        if not unknown:
            return known == dim
        if len(unknown) > 1 or dim < 0 or (known and dim % known):
            return False
        self.sizes[unknown[0]] = dim // known if known else 0
        return True

    def _rules(self) -> Iterator[tuple[str, Check]]:
        for name, tensor in self.tensors.items():
            for rule in tensor.rules:
                symbols = {word for word in _symbols(rule) if word not in described.RELATIONS}
                if symbols <= self.sizes.keys():
                    users = [f"{key}_desc" for key, one in self.tensors.items() if symbols & _symbols(one.shape)]
                    holds = described.holds_rule(rule, self.sizes)
                    yield name, self._check("shapes", holds, f"{name}_desc", *users, of=name)


# ---- values --------------------------------------------------------------------------------------


def code(tensor: Tensor) -> int:
    """The number of a type; a descriptor that was never set has float."""
    if tensor.dims is None:
        return DTYPES["FLOAT"]
    return DTYPES[tensor.dtype] if isinstance(tensor.dtype, str) else tensor.dtype


def types_of(known: Operator, tensor: TensorArgument) -> list[int]:
    """The types that an array may have. Functions of our own compute in double as well."""
    found = [int(one) for one in allowed_types(known, tensor)]
    ours = known.function.startswith("mluopsExt")
    return [*found, DTYPES["DOUBLE"]] if ours and is_floating(known, tensor) else found


def is_contiguous(tensor: Tensor) -> bool:
    """Whether strides are those of a tensor without gaps, where they matter."""
    if tensor.strides is None or tensor.elements == 0:
        return True
    dims = tensor.dims or ()
    steps = zip(dims, tensor.strides, packed(dims), strict=True)
    return all(size == 1 or stride == wanted for size, stride, wanted in steps)


def _layout(tensor: Tensor) -> str:
    if tensor.dims is None:  # it was never set
        return "ARRAY"
    return _LAYOUT_NAMES.get(tensor.layout, "") if isinstance(tensor.layout, int) else tensor.layout


@functools.cache
def _symbols(text: str) -> frozenset[str]:
    words = text.replace("*", " ").replace("+", " ").split()
    return frozenset(word for word in words if word[0].isalpha() or word[0] == "_")


@functools.cache
def _split(text: str) -> tuple[list[str], dict[str, int]]:
    """The terms of a shape, and the values of symbols that it gives."""
    fixed = [term.partition("=") for term in text.split() if "=" in term]
    terms = [term for term in text.split() if "=" not in term]
    return terms, {symbol: int(value) for symbol, _, value in fixed}


def _allows(scalar: Scalar, kind: str, value: Any) -> bool:
    if scalar.choices:
        return value in scalar.choices.values()
    kind = kind.removeprefix("const ")
    if kind == "bool":
        return True
    real = kind in ("float", "double")
    if real:
        value = float(np.float32(value)) if kind == "float" else float(value)
        if math.isnan(value) or math.isinf(value):
            return scalar.nan if math.isnan(value) else scalar.infinite
    least = scalar.minimum if scalar.minimum is not None or real else 1
    low = least is None or (value > least if scalar.above else value >= least)
    return low and (scalar.maximum is None or value <= scalar.maximum)


def tensor_of(function: str, parameter: str) -> TensorArgument:
    """The description of an array, by the name of its C parameter."""
    return next(tensor for tensor in OPERATORS[function].tensors if (tensor.parameter or tensor.name) == parameter)
