"""Calls of the library in the type of the arguments; float64 goes to the functions in double."""

from __future__ import annotations

import functools
from typing import Any

from pymluops import library
from pymluops._core import Handle, Operator
from pymluops._torch_threads import thread_follower
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._double import double_of

_double = functools.cache(double_of)


def run(operator: Operator, tensors: tuple[Tensor | None, ...], scalars: tuple[Any, ...] = ()) -> Any:
    """Call an operator of `pymluops.ops` and return its results.

    Parameters
    ----------
    operator : Operator
        The operator.
    tensors : tuple of Tensor or None
        Inputs, then outputs: the tensor that a result is written to, or None for a new one. They
        are contiguous; those with floating numbers have the type to compute in.
    scalars : tuple
        The other arguments.
    """
    double = load_torch().float64
    if any(tensor is not None and tensor.dtype is double for tensor in tensors):
        return run_on_cpu(_double(operator), tensors, scalars)
    thread_follower()()
    return operator(None, tensors, scalars)


def run_on_cpu(operator: Operator, tensors: tuple[Tensor | None, ...], scalars: tuple[Any, ...] = ()) -> Any:
    """Call an operator that no device has; the CPU computes it, whatever library `pymluops.use` names."""
    thread_follower()()
    handle = None if library.current().kind == "cpu" else Handle(library.load("cpu"))
    return operator(handle, tensors, scalars)
