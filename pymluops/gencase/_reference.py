"""The results that an operator of a case should have: those of the oracles, which are NumPy.

Most oracles take the arguments of the operator's description, so they are found by it. Where the
function of the vendor's header has no description, an adapter here calls the oracle.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from pymluops._core import Operator
from pymluops.gencase._adapters import ADAPTERS
from pymluops.gencase._operators import CaseOperator

__all__ = ["description_of", "reference"]

#: Operators whose results are decisions, which follow from numbers as they are, or recurrences that
#: overflow.
_IN_THEIR_TYPE = (
    "ball_query",
    "diff_iou_rotated_sort_vertices_forward",
    "mutual_information_backward",
    "nms_rotated",
    "points_in_boxes",
    "poly_nms",
    "roiaware_pool3d_forward",
    "roipoint_pool3d",
    "three_nn_forward",
    "voxelization",
)


class _Arrays(dict[str, "np.ndarray | None"]):
    """Arrays by the arguments of the C function; a tensor that the case does not have is None."""

    def __missing__(self, name: str) -> None:
        return None


class _Described(NamedTuple):
    """The description of a C function, and its oracle."""

    operator: Operator
    oracle: Callable[..., Any]


@cache
def _described() -> dict[str, _Described]:
    """Return them by the names of the C functions."""
    package = importlib.import_module("pymluops.ops")
    found: dict[str, _Described] = {}
    for module in pkgutil.iter_modules(package.__path__):
        if module.name.startswith("_"):
            continue
        oracle = getattr(importlib.import_module(f"pymluops.oracle.{module.name}"), "in_double", None)
        for value in vars(importlib.import_module(f"pymluops.ops.{module.name}")).values():
            if isinstance(value, Operator) and oracle is not None:
                found[value.function] = _Described(value, oracle)
    return found


def description_of(function: str) -> Operator | None:
    """Return the description of a C function, None if it has none."""
    known = _described().get(function)
    return None if known is None else known.operator


def reference(
    operator: CaseOperator, arrays: Mapping[str, np.ndarray | None], numbers: Mapping[str, Any], *, exact: bool = False
) -> dict[str, np.ndarray]:
    """Return what the outputs of a case should be.

    Parameters
    ----------
    operator : CaseOperator
        Its row in the table.
    arrays : mapping of str to numpy.ndarray
        All tensors by the arguments of the C function; of outputs only the shapes are looked at,
        unless they are inputs too. None for a tensor that is not there.
    numbers : mapping of str to int, float or tuple
        The other arguments, and fields of descriptors as ``descriptor.field``.
    exact : bool
        Compute in the types of the arrays, where the oracle can, and not in float64.

    Returns
    -------
    dict of str to numpy.ndarray
        The outputs, by the arguments of the C function.

    Raises
    ------
    LookupError
        If there is no oracle for these arguments.
    """
    adapter = ADAPTERS.get(operator.name)
    arrays = _Arrays(arrays)
    given = arrays if exact or operator.name in _IN_THEIR_TYPE else _widened(arrays)
    if adapter is not None:
        return {name: np.asarray(value) for name, value in adapter(given, numbers).items()}
    known = _described().get(operator.functions[0])
    if known is None:
        raise LookupError(f"no oracle for {operator.name}")
    return _by_description(known, given, numbers)


def _widened(arrays: Mapping[str, np.ndarray | None]) -> dict[str, np.ndarray | None]:
    """Return the arrays with reals in float64."""
    return _Arrays({name: None if array is None else _wide(array) for name, array in arrays.items()})


def _wide(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    is_real = array.dtype.kind == "f" or str(array.dtype) == "bfloat16"
    return array.astype(np.float64) if is_real else array


def _by_description(
    known: _Described, arrays: Mapping[str, np.ndarray | None], numbers: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    tensors = [(tensor.parameter or tensor.name, tensor) for tensor in known.operator.tensors]
    inputs = [arrays.get(name) for name, tensor in tensors if not tensor.output]
    scalars: list[Any] = []
    for scalar in known.operator.scalars:
        is_given = scalar.c_name in numbers
        size = None if is_given else _size(known.operator, scalar.symbol or scalar.name, arrays)
        scalars.append(numbers[scalar.c_name] if is_given else size)
    copies = [None if array is None else array.copy() for array in inputs]
    with np.errstate(all="ignore"):
        found = known.oracle(known.operator.name, *copies, *scalars)
    results: list[Any] = [*found] if isinstance(found, (tuple, list)) else [found]
    names = [name for name, tensor in tensors if tensor.output or tensor.in_place]
    return {name: np.asarray(value) for name, value in zip(names, results, strict=True)}


def _size(operator: Operator, symbol: str, arrays: Mapping[str, np.ndarray | None]) -> int:
    """Return the size that a symbol of the description has in the arrays."""
    for tensor in operator.tensors:
        array = arrays.get(tensor.parameter or tensor.name)
        terms = tensor.shape.split()
        if array is not None and symbol in terms:
            return int(array.shape[terms.index(symbol)])
    raise LookupError(f"{operator.function}: the value of {symbol} is not known")
