"""One module a family of operators: ``build(case)`` gives its `Problem`, ``sized(elements)`` parameters by mode.

``tiny()`` gives a call of each operator on a few elements. ``tiny_tensors(ops, tensor)`` gives a
call of the family's function in ``pymluops.torch``, which is `ops`; `tensor` makes a tensor of an
array.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from benchmarks.cases import Case
from benchmarks.problem import Problem, TensorCall, TinyCall


def build(case: Case) -> Problem:
    """Make the arrays of a case."""
    module = importlib.import_module(f"benchmarks.families.{case.family}")
    problem: Problem = module.build(case)
    return problem


def sized(family: str, elements: int) -> Mapping[str, Mapping[str, Any]]:
    """Return parameters by mode of the family, with which inputs and outputs have about so many elements in all."""
    module = importlib.import_module(f"benchmarks.families.{family}")
    parameters: Mapping[str, Mapping[str, Any]] = module.sized(elements)
    return parameters


def same_kernel(family: str) -> tuple[str, ...]:
    """Return the operators of the family without cases, since another one of it has the same kernel."""
    found: tuple[str, ...] = getattr(importlib.import_module(f"benchmarks.families.{family}"), "SAME_KERNEL", ())
    return found


def tiny(family: str) -> list[TinyCall]:
    """Return a call of each operator on a few elements."""
    module = importlib.import_module(f"benchmarks.families.{family}")
    calls: list[TinyCall] = module.tiny()
    return calls


def tiny_tensors(family: str, ops: Any, tensor: Any) -> list[TensorCall]:
    """Return a call of the function for tensors, if there is one."""
    module = importlib.import_module(f"benchmarks.families.{family}")
    return [module.tiny_tensors(ops, tensor)] if hasattr(module, "tiny_tensors") else []
