"""Calls of every operator function of the CPU library, made from the descriptions, and single faults of them.

`abi.problems` and `abi.faults` have the calls whose checks are documented line by line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

import described
from abi import problems
from abi.facts import BAD_PARAM, DTYPE_NAMES, DTYPES, LAYOUTS, NOT_SUPPORTED
from abi.problems import Edits, Problem, Tensor
from abi.raw import packed
from calls import OPERATORS, Call, legal_call
from pymluops.ops._schema import Scalar
from pymluops.ops._schema import Tensor as TensorArgument
from raw import DATA_TYPES

_LAYOUT_NAMES = {value: name for name, value in LAYOUTS.items()}


def problem_of(call: Call) -> Problem:
    """A call from `calls` as a problem of the raw layer."""
    known = call.description
    tensors: dict[str, Tensor] = {}
    for parameter, argument in known.by_parameter.items():
        if isinstance(argument, TensorArgument):
            array = call.arrays[argument.name]
            dtype, layout = DTYPE_NAMES[DATA_TYPES[array.dtype.name]], _LAYOUT_NAMES[int(argument.layout)]
            tensors[parameter] = Tensor(array.shape, dtype, layout, argument.output, content=array)
    values = {"handle": "ok", **call.numbers}
    if known.workspace_function is not None:  # more than it needs, so that NULL is wrong
        values |= {"workspace": "ok", "workspace_size": ("need", 64)}
    return Problem(known.c_function, tensors, values)


def _small(name: str) -> Callable[[], Problem]:
    return lambda: problem_of(legal_call(name, 2))


#: A small legal call of each function; those of get_indice_pairs have a descriptor of their own.
PROBLEMS: dict[str, Callable[[], Problem]] = {
    **problems.PROBLEMS,
    **{
        operator.c_function: _small(name)
        for name, operator in OPERATORS.items()
        if operator.c_function not in problems.PROBLEMS
    },
}


def large_problem(name: str) -> Problem:
    """A call on tensors large enough for the thread pool."""
    made = described.make_large(name, np.random.default_rng(11), described.dtypes(name)[-1])
    return problem_of(OPERATORS[name].call(made))


# ---- single faults ---------------------------------------------------------------------------------------------------


class Fault(NamedTuple):
    """What is wrong, and the statuses that may say so."""

    name: str
    edits: Edits
    statuses: tuple[int, ...] = (BAD_PARAM,)


def faults(name: str) -> Iterator[Fault]:
    """Faults of one operator's arguments."""
    known, problem = OPERATORS[name], problem_of(legal_call(name, 2))
    yield Fault("handle NULL", {("handle", "value"): "null"})
    for parameter, argument in known.by_parameter.items():
        if isinstance(argument, TensorArgument):
            yield from _tensor_faults(parameter, argument, problem.tensors[parameter])
        elif parameter in known.c_parameters:
            yield from _scalar_faults(parameter, argument)
    for output, tensor in problem.tensors.items():
        if tensor.output:
            for parameter in sorted(problem.tensors.keys() - {output}):
                yield Fault(f"{output} is {parameter}", {(output, "data"): (parameter, 0)})


def _tensor_faults(parameter: str, argument: TensorArgument, tensor: Tensor) -> Iterator[Fault]:
    assert tensor.dims is not None
    for state in () if argument.optional else ("null", "handle", "destroyed"):
        yield Fault(f"{parameter}_desc {state}", {(parameter, "desc"): state})
    for state in ("null", "misaligned"):
        yield Fault(f"{parameter} {state}", {(parameter, "data"): state})
    for rank, dims in (("more", (*tensor.dims, 1)), ("fewer", tensor.dims[:-1])):
        yield Fault(f"{parameter} of {rank} dims", {(parameter, "dims"): dims})
    allowed = argument.dtype if isinstance(argument.dtype, tuple) else ()
    right = {tensor.dtype, *(DTYPE_NAMES[kind] for kind in allowed)}
    for dtype in sorted(DTYPES.keys() - right):
        yield Fault(f"{parameter} of {dtype}", {(parameter, "dtype"): dtype})
    strides = [2 * step for step in packed(tensor.dims)]
    if tensor.elements > 1:
        yield Fault(f"{parameter} strided", {(parameter, "strides"): tuple(strides)}, (BAD_PARAM, NOT_SUPPORTED))
    for symbol in argument.positive.split():
        for axis, term in enumerate(argument.shape.split()):
            if symbol == term:
                dims = (*tensor.dims[:axis], 0, *tensor.dims[axis + 1 :])
                yield Fault(f"{parameter} without {symbol}", {(parameter, "dims"): dims})
    for axis, term in enumerate(argument.shape.split()):
        if term.isdigit():
            dims = (*tensor.dims[:axis], int(term) + 1, *tensor.dims[axis + 1 :])
            yield Fault(f"{parameter} with dim {axis} other than {term}", {(parameter, "dims"): dims})


def _scalar_faults(parameter: str, scalar: Scalar) -> Iterator[Fault]:
    wrong: list[float] = []
    if scalar.choices:
        wrong = [min(scalar.choices.values()) - 1, max(scalar.choices.values()) + 1]
    elif scalar.minimum is not None:
        wrong = [scalar.minimum if scalar.above else scalar.minimum - 1]
    elif not isinstance(scalar.maximum, float):
        wrong = [0, -1, -(2**31)]
    if scalar.maximum is not None:
        wrong.append(scalar.maximum + 1)
    for value in wrong:
        if isinstance(value, int) and not -(2**31) <= value < 2**31:
            continue
        yield Fault(f"{parameter} {value}", {(parameter, "value"): value})
