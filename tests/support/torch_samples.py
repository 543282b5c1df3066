"""Small arguments for every operator that is registered with torch, and for every function of tensors.

All follows from the declarations in pymluops/torch/<family>.py: which arguments have a gradient,
the layouts of a function and the order of its arguments, and `sample`, the values that belong
together. The rest is drawn.
"""

from __future__ import annotations

import itertools
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import pymluops.torch as ours
from pymluops.ops._schema import Scalar
from pymluops.torch._function import FUNCTIONS as _DECLARED
from pymluops.torch._function import TensorFunction
from pymluops.torch._library import REGISTERED, TorchOperator
from support import described

OPERATORS = torch.ops.pymluops

NAMES = tuple(sorted(REGISTERED))
#: Those that compute a gradient which is the true one, and which of their arguments have it.
GRADIENTS = {name: REGISTERED[name].gradients or () for name in NAMES if REGISTERED[name].gradient}
GRADIENTS = {name: places for name, places in GRADIENTS.items() if REGISTERED[name].exact}
#: Those whose gradient can be differentiated again, and those that refuse this.
TWICE = tuple(name for name in GRADIENTS if getattr(REGISTERED[name].gradient, "gradients", None))
ONCE = tuple(name for name in GRADIENTS if name not in TWICE)
WITHOUT = tuple(name for name in NAMES if REGISTERED[name].gradients == ())


def arguments(
    name: str, dtype: torch.dtype = torch.float32, batch: int = 2, seed: int = 0, **given: Any
) -> tuple[Any, ...]:
    """Legal arguments of an operator; a seed moves the numbers, and `given` has the values of some symbols."""
    one, rng = REGISTERED[name], np.random.default_rng(seed)
    known = one.operator
    sample = {_batch(one): batch, **one.sample, **given}
    draw = np.random.default_rng(zlib.crc32(known.name.encode()))
    made = described.make(known, draw, 4, "float32", least=2, given=sample).arguments
    found: list[Any] = []
    for tensor in one.inputs:
        array = np.array(sample.get(tensor.name, made[tensor.name]))
        if array.dtype.kind == "f":
            moved = array + 0.05 * rng.normal(size=array.shape) if seed else array
            found.append(torch.from_numpy(np.ascontiguousarray(moved)).to(dtype))
        else:
            found.append(torch.from_numpy(array))
    numbers = {scalar.name: sample[_symbol(scalar)] for scalar in known.scalars if _symbol(scalar) in sample}
    several = {key for key, value in made.items() if isinstance(value, tuple)}
    made |= {key: value for key, value in numbers.items() if key not in several}
    return (*found, *described.scalar_values(known, made))


def _symbol(scalar: Scalar) -> str:
    return scalar.symbol or scalar.name


def _batch(one: TorchOperator) -> str:
    """The symbol of the first dim."""
    return one.inputs[0].shape.split()[0]


def batched(name: str) -> tuple[bool, ...]:
    """For each argument of an operator whether it has a batch, over which vmap can map."""
    one = REGISTERED[name]
    return (*(tensor.shape.split()[0] == _batch(one) for tensor in one.inputs), *(False for _ in one.scalars))


def with_gradient(name: str, made: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, those that have a gradient asking for it."""
    return _asking(made, GRADIENTS.get(name, ()))


def _asking(made: tuple[Any, ...], places: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(a.detach().clone().requires_grad_() if i in places else a for i, a in enumerate(made))


def overload(name: str) -> Any:
    return getattr(OPERATORS, name).default


# ---- the functions -------------------------------------------------------------------------------


#: Batches that tests ask for.
_BATCHES = (2, 3, 5, 7)


@dataclass(frozen=True)
class _Case:
    """A function with fixed numbers, as one of tensors alone.

    Parameters
    ----------
    call : callable
        The function.
    declared : TensorFunction
        How it calls an operator.
    operator : str
        The name of that.
    sizes : dict
        The values of all symbols and numbers.
    places : tuple of int
        The inputs of the operator in the order of the tensors.
    """

    call: Callable[..., Any]
    declared: TensorFunction
    operator: str
    sizes: dict[str, Any]
    places: tuple[int, ...]

    def of(self, inputs: tuple[int, ...]) -> tuple[int, ...]:
        """The tensors that are these inputs of the operator."""
        return tuple(i for i, place in enumerate(self.places) if place in inputs)


def _free(one: TorchOperator) -> set[str]:
    """The symbols that may have any value: no rule, number or sample is about them."""
    dims = {term for tensor in one.inputs for term in tensor.shape.split() if term.isidentifier()}
    ruled = {symbol for tensor in one.operator.tensors for symbol in re.findall(r"\w+", " ".join(tensor.rules))}
    return dims - ruled - set(map(_symbol, one.operator.scalars)) - set(one.sample) - {_batch(one)}


def _case(name: str, declared: TensorFunction, choice: dict[str, str]) -> _Case:
    operator = declared.operator.qualname.partition("::")[2]
    made = arguments(operator, **choice)
    count = len(declared.operator.inputs)
    inputs, numbers, function = made[:count], made[count:], getattr(ours, name)
    public = [one for one in declared.public_arguments(*made) if isinstance(one, torch.Tensor)]
    places = tuple(next(i for i, one in enumerate(inputs) if one is other) for other in public)

    def call(*tensors: Any) -> Any:
        ordered = [tensors[places.index(i)] for i in range(count)]
        return function(*declared.public_arguments(*ordered, *numbers), **declared.keywords)

    names = ", ".join(declared.operator.inputs[place].name for place in places)
    # torch.fx asks a function how many arguments it has.
    counted = eval(f"lambda {names}: call({names})", {"call": call, "__name__": __name__})
    return _Case(counted, declared, operator, _sizes(declared.operator, made) | choice, places)


def _sizes(one: TorchOperator, made: tuple[Any, ...]) -> dict[str, Any]:
    """The values of symbols and numbers. Those of free symbols are like no other: PyTorch takes equal sizes for one."""
    sizes = one.symbols(made) | dict(zip(map(_symbol, one.operator.scalars), made[len(one.inputs) :], strict=True))
    free = sorted(_free(one))
    dims = [dim for tensor, of in zip(made, one.inputs) for dim in zip(of.shape.split(), tensor.shape, strict=True)]
    taken = {size for term, size in dims if term not in free}
    others = (size for size in itertools.count(2) if size not in taken and size not in _BATCHES)
    return sizes | dict(zip(free, others, strict=False))


def _choices(one: TorchOperator) -> Iterator[dict[str, str]]:
    """Every value of the operator's enumerations."""
    scalars = [scalar for scalar in one.operator.scalars if scalar.choices]
    for values in itertools.product(*(scalar.choices for scalar in scalars)):
        yield {_symbol(scalar): value for scalar, value in zip(scalars, values, strict=True)}


_CASES = {
    "-".join([name, *map(str, declared.keywords.values()), *choice.values()]): _case(name, declared, choice)
    for name, alternatives in _DECLARED.items()
    for declared in alternatives
    for choice in _choices(declared.operator)
}
#: Each function of the package as one of tensors alone, for every value of the operator's
#: enumerations.
FUNCTIONS: dict[str, Callable[..., Any]] = {name: case.call for name, case in _CASES.items()}
#: Which of their arguments have a gradient.
DIFFERENTIABLE = {name: case.of(case.declared.operator.gradients or ()) for name, case in _CASES.items()}
#: Those that are linear in their first argument.
LINEAR = tuple(name for name, case in _CASES.items() if 0 in case.of(case.declared.operator.linear))
#: Those whose gradient can be differentiated again.
AGAIN = tuple(name for name, case in _CASES.items() if case.operator in TWICE)
#: Those whose gradient is not that of what they compute.
INEXACT = tuple(name for name, case in _CASES.items() if not case.declared.operator.exact)


def tensors(name: str, dtype: torch.dtype = torch.float32, batch: int = 2, seed: int = 0) -> tuple[torch.Tensor, ...]:
    """Legal arguments of a function of `FUNCTIONS`, in its layout. The seed is in the sizes too."""
    case = _CASES[name]
    one = case.declared.operator
    sizes = {key: value for key, value in case.sizes.items() if key != _batch(one)}
    sizes |= {symbol: case.sizes[symbol] + seed % 3 for symbol in _free(one)}
    made = arguments(case.operator, dtype, batch, seed, **sizes)
    orders = case.declared.orders
    inputs = [(made[place], orders[place] or tuple(range(made[place].ndim))) for place in case.places]
    return tuple(a.permute(tuple(order.index(i) for i in range(a.ndim))).contiguous() for a, order in inputs)


def operator_of(name: str) -> TorchOperator:
    """The operator that a function calls."""
    return _CASES[name].declared.operator


def in_half(name: str) -> bool:
    """Whether the library computes all of a function in float16; roots are PyTorch's."""
    case = _CASES[name]
    return "float16" in described.dtypes(operator_of(name).operator.name) and not case.declared.roots


def mapped(name: str) -> tuple[int | None, ...]:
    """Dims over which vmap maps all arguments of a function that have a batch."""
    has = batched(_CASES[name].operator)
    return tuple(0 if has[place] else None for place in _CASES[name].places)


def misfit(name: str, made: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...] | None:
    """The arguments, the first of which does not fit the others or the numbers; None if nothing has to fit."""
    case = _CASES[name]
    one = case.declared.operator
    order = case.declared.orders[case.places[0]] or tuple(range(made[0].ndim))
    first, *others = (one.inputs[place].shape.split() for place in case.places)
    known = {symbol for shape in others for term in shape for symbol in term.split("*")}
    known |= set(map(_symbol, one.operator.scalars))
    for dim, term in enumerate(first):
        if set(term.split("*")) <= known:
            return made[0].narrow(order[dim], 0, made[0].shape[order[dim]] - 1), *made[1:]
    return None


def asking_for_gradients(name: str, made: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """Arguments of a function of `FUNCTIONS`, those that have a gradient asking for it."""
    return _asking(made, DIFFERENTIABLE[name])


def all_equal(found: Any, wanted: Any, **tolerances: float) -> None:
    """Compare one tensor or several."""
    found, wanted = (r if isinstance(r, (tuple, list)) else (r,) for r in (found, wanted))
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, **(tolerances or {"rtol": 0, "atol": 0}), equal_nan=True)
