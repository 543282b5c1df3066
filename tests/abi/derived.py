"""Calls of every operator function of the CPU library, made from the descriptions, and single faults of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from abi.c_objects import packed
from abi.checks import OPERATORS, is_contiguous, refusals, sizes, status_of, tensor_of
from abi.facts import DTYPE_NAMES, DTYPES, LAYOUTS, PROTOTYPES, SUCCESS
from abi.operator_call import LARGEST_BUFFER, Edits, Problem, Tensor
from pymluops.ops._double import allowed_types
from pymluops.ops._schema import Scalar
from pymluops.ops._schema import Tensor as TensorArgument
from support import described, families
from support.c_calls import DATA_TYPES
from support.described_calls import IN_C, Call

_LAYOUT_NAMES = {value: name for name, value in LAYOUTS.items()}
_SEED = 2


def problem_of(call: Call, function: str = "") -> Problem:
    """A described call as a problem of the raw layer; of the function that tells the workspace if that is named."""
    known = call.description
    function = function or known.c_function
    parameters = [param["name"] for param in PROTOTYPES[function]["params"]]
    tensors: dict[str, Tensor] = {}
    for parameter in [name.removesuffix("_desc") for name in parameters]:
        argument = known.by_parameter.get(parameter)
        if isinstance(argument, TensorArgument) and parameter not in tensors:
            array = call.arrays[argument.name]
            dtype, layout = DTYPE_NAMES[DATA_TYPES[array.dtype.name]], _LAYOUT_NAMES[int(argument.layout)]
            bare = f"{parameter}_desc" not in parameters
            tensors[parameter] = Tensor(
                array.shape, dtype, layout, argument.output, content=array, bare=bare, in_place=argument.in_place
            )
    values = {"handle": "ok", **{key: value for key, value in call.numbers.items() if key in parameters}}
    if function != known.c_function:
        values["workspace_size"] = "ok"
    elif known.workspace_function is not None:  # more than it needs, so that NULL is wrong
        values |= {"workspace": "ok", "workspace_size": ("need", 64)}
    return Problem(function, tensors, values, {key: dict(value) for key, value in call.settings.items()})


@functools.cache
def small_problem(function: str) -> Problem:
    """A small legal call of an operator function, or of one that tells the size of a workspace; not to be changed."""
    name = OPERATORS[function].name
    return problem_of(IN_C[name].call(described.make(name, np.random.default_rng(_SEED), least=2)), function)


def _small(function: str) -> Callable[[], Problem]:
    return lambda: small_problem(function).edited({})


#: A small legal call of each function.
PROBLEMS: dict[str, Callable[[], Problem]] = {
    function: _small(function) for function in OPERATORS if function not in families.APART
}

#: The functions of the operators alone.
COMPUTING = [known.function for known in families.OPERATORS.values() if known.function in PROBLEMS]


def large_problem(function: str) -> Problem:
    """A call on tensors large enough for the thread pool."""
    name = OPERATORS[function].name
    made = described.make_large(name, np.random.default_rng(11), described.dtypes(name)[-1])
    return problem_of(IN_C[name].call(made))


# ---- single faults -------------------------------------------------------------------------------


class Fault(NamedTuple):
    """What is wrong, and how."""

    name: str
    edits: Edits


@functools.cache
def faults(function: str) -> list[Fault]:
    """Faults of the arguments of one function, each of which must be refused."""
    base = small_problem(function)
    return [fault for fault in changes(function, base) if status_of(base.edited(fault.edits)) != SUCCESS]


def changes(function: str, base: Problem) -> Iterator[Fault]:
    """Changes of the arguments of a call that can be made.

    Some are legal, as another value of a size that only one array has.
    """
    for change in _all_changes(function, base):
        if can_be_made(base.edited(change.edits)):
            yield change


def can_be_made(problem: Problem) -> bool:
    """Whether descriptors can be set to the shapes, and memory is as large as the function takes it to be."""
    tensors = problem.tensors
    moved = [tensor.data for tensor in tensors.values() if isinstance(tensor.data, tuple)]
    fits = all(t.nbytes <= LARGEST_BUFFER if t.bare else t.nbytes < 2**63 for t in tensors.values())
    return fits and all(tensors[target].nbytes > offset for target, offset in moved)


def _all_changes(function: str, base: Problem) -> Iterator[Fault]:
    known = OPERATORS[function]
    yield Fault("handle NULL", {("handle", "value"): "null"})
    for parameter in base.settings:
        for state in ("null", "tensor"):
            yield Fault(f"{parameter} {state}", {(parameter, "desc"): state})
    for parameter, tensor in base.tensors.items():
        if not tensor.bare:
            yield from _descriptor_faults(function, parameter, tensor)
        if function == known.function or tensor.bare:
            for state in ("null", "misaligned") if tensor.item_size > 1 else ("null",):
                yield Fault(f"{parameter} {state}", {(parameter, "data"): state})
    for scalar in known.scalars:
        if scalar.c_name in base.values and not isinstance(base.values[scalar.c_name], bool):
            yield from _scalar_faults(scalar)
    yield from _size_faults(base)
    if function == known.function:
        yield from _overlaps(base)
    yield from _workspace_faults(base)
    for name, edits in refusals(function).faults.items():
        yield Fault(name, edits)


def _descriptor_faults(function: str, parameter: str, tensor: Tensor) -> Iterator[Fault]:
    assert tensor.dims is not None
    argument = tensor_of(function, parameter)
    for state in ("handle", "destroyed") if argument.optional else ("null", "handle", "destroyed"):
        yield Fault(f"{parameter}_desc {state}", {(parameter, "desc"): state})
    for rank, dims in (("more", (*tensor.dims, 1)), ("fewer", tensor.dims[:-1])):
        yield Fault(f"{parameter} of {rank} dims", {(parameter, "dims"): dims})
    for dtype in sorted(DTYPES.keys() - {str(tensor.dtype)}):
        alone = " alone" if DTYPES[dtype] in allowed_types(OPERATORS[function], argument) else ""
        yield Fault(f"{parameter}{alone} of {dtype}", {(parameter, "dtype"): dtype})
    for layout in sorted(LAYOUTS.keys() - {str(tensor.layout)}):
        yield Fault(f"{parameter} of layout {layout}", {(parameter, "layout"): layout})
    for name, strides in _other_strides(tensor.dims):
        if not is_contiguous(Tensor(tensor.dims, tensor.dtype, strides=strides)):
            yield Fault(f"{parameter} strided, {name}", {(parameter, "strides"): strides})
    for axis, size in enumerate(tensor.dims):
        for value in (size + 1, 2 * size + 3):
            dims = (*tensor.dims[:axis], value, *tensor.dims[axis + 1 :])
            yield Fault(f"{parameter} with {value} in dim {axis}", {(parameter, "dims"): dims})


def _other_strides(dims: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    plain = packed(dims)
    yield "twice as wide", tuple(2 * step for step in plain)
    for axis, size in enumerate(dims):
        if size > 1:
            for what, step in (("a gap", plain[axis] + 1), ("repeated", 0), ("backwards", -plain[axis])):
                yield f"{what} in dim {axis}", (*plain[:axis], step, *plain[axis + 1 :])


def _size_faults(base: Problem) -> Iterator[Fault]:
    """Every size 0, and so large that an array has 2**31 elements, everywhere where it stands."""
    for symbol, value in sizes(base).items():
        if not any(field == "dims" for _, field in with_size(base, symbol, value + 1)):
            continue  # the size of no array
        yield Fault(f"{symbol} is 0", with_size(base, symbol, 0))
        most = max((t.elements for t in base.tensors.values() if not t.bare), default=1) or 1
        yield Fault(f"{symbol} is big", with_size(base, symbol, value * (2**31 // most + 1)))
        yield Fault(f"{symbol} is 2**31", with_size(base, symbol, 2**31))


def with_size(base: Problem, symbol: str, value: int) -> dict[tuple[str, str], object]:
    """Edits that give a symbol another value wherever it stands: in shapes and scalars."""
    known, found = OPERATORS[base.function], {**sizes(base), symbol: value}
    edits: dict[tuple[str, str], object] = {}
    for tensor in known.tensors:
        parameter = tensor.parameter or tensor.name
        if parameter in base.tensors:
            dims = tuple(described.value_of(term, found) for term in tensor.shape.split())
            if dims != base.tensors[parameter].dims and all(dim < 2**62 for dim in dims):
                edits[parameter, "dims"] = dims
    for scalar in known.scalars:
        if (scalar.symbol or scalar.name) == symbol and scalar.c_name in base.values and value < 2**31:
            edits[scalar.c_name, "value"] = value
    return edits


def _overlaps(base: Problem) -> Iterator[Fault]:
    """An output that is, or begins inside, another tensor of the call; and an input that begins in the output."""
    for output, tensor in base.tensors.items():
        for other in sorted(base.tensors.keys() - {output}) if tensor.written else ():
            if base.tensors[other].bare:
                continue
            step = max(tensor.item_size, base.tensors[other].item_size)
            yield Fault(f"{output} is {other}", {(output, "data"): (other, 0)})
            yield Fault(f"{output} inside {other}", {(output, "data"): (other, step)})
            yield Fault(f"{other} inside {output}", {(other, "data"): (output, step)})


def _workspace_faults(base: Problem) -> Iterator[Fault]:
    if "workspace" in base.values:
        yield Fault("workspace NULL", {("workspace", "value"): "null"})
        yield Fault("workspace one byte short", {("workspace_size", "value"): ("need", -1)})
        yield Fault("no workspace", {("workspace", "value"): "null", ("workspace_size", "value"): 0})
    elif "workspace_size" in base.values:
        yield Fault("workspace_size NULL", {("workspace_size", "value"): "null"})


def _scalar_faults(scalar: Scalar) -> Iterator[Fault]:
    wrong: list[float] = []
    if scalar.choices:
        wrong = [min(scalar.choices.values()) - 1, max(scalar.choices.values()) + 1]
    else:
        if scalar.minimum is not None:
            wrong = [scalar.minimum if scalar.above else scalar.minimum - 1]
        elif not isinstance(scalar.maximum, float):
            wrong = [0, -1, -(2**31)]
        if scalar.maximum is not None:
            wrong.append(scalar.maximum + 1)
    for value in wrong:
        if not isinstance(value, int) or -(2**31) <= value < 2**31:
            yield Fault(f"{scalar.c_name} {value}", {(scalar.c_name, "value"): value})
