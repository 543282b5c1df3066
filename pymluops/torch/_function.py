"""Functions for tensors in the layouts of mmcv, made of registered operators.

A family declares with `TensorFunction` where the dims of each tensor go, once. From this follow the
direct way to the library, the way through torch's dispatcher, and which function torch's overrides
see.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import torch

from pymluops._array_kinds import of_tensor, plain
from pymluops.torch._library import TorchOperator
from pymluops.torch._modes import exporting_to_onnx, is_overridden, override

__all__ = ["FUNCTIONS", "TensorFunction", "compiling"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

#: Whether torch.compile reads the function; it cannot look into the direct way.
compiling = torch.compiler.is_compiling

#: The public functions, by name, with the declarations that they are made of.
FUNCTIONS: dict[str, list[TensorFunction]] = {}


def _same(*arguments: Any) -> Any:
    return arguments


@dataclass(frozen=True)
class _Result:
    """How an output of an operator becomes a result.

    Attributes
    ----------
    dropped : bool
        It is none.
    order : tuple of int or None
        Its dims in the order of the result's.
    view : tuple of tuple of int or None
        For each dim of the result the dims of the output whose product it is.
    root : bool
        The result is the square root.
    """

    dropped: bool
    order: tuple[int, ...] | None
    view: tuple[tuple[int, ...], ...] | None
    root: bool

    def of(self, found: Any) -> Any:
        """Return the result."""
        if self.order is not None:
            return found.permute(self.order).contiguous()
        if self.view is not None:
            return found.view([math.prod([found.shape[i] for i in dims]) for dims in self.view])
        # Roots of float32 that torch computes itself may be off by one place.
        return found.double().sqrt().to(found.dtype) if self.root else found


class TensorFunction:
    """How a public function calls an operator.

    `direct` and `through_torch` take the operator's arguments, tensors in the layout of the public
    function. `direct` is for plain tensors, and goes on through torch where it has to; under
    torch.compile only `through_torch` can be called.

    Parameters
    ----------
    operator : TorchOperator
        The operator.
    orders : mapping of str to tuple of int
        For an input, which dim of the tensor is each dim of the operator's; for an output, which
        dim of the operator's is each dim of the tensor.
    shapes : mapping of str to str or None
        For an output, the shape of the tensor that shows the same values in the same order, in
        symbols of the operator's shape; None drops it.
    roots : tuple of str
        Outputs whose square root is the result.
    check : function, optional
        Raises for arguments that the operator would accept or refuse in other words. It gets the
        operator's arguments.
    formula : function, optional
        Computes the same with PyTorch's own operators, which ONNX has. It gets the operator's
        arguments.
    public : function, optional
        Returns the arguments of the public function, given those of the operator. Without it they
        are the same.
    keywords : mapping of str to object, optional
        Arguments by keyword of the public function that choose this operator.
    """

    def __init__(
        self,
        operator: TorchOperator,
        *,
        orders: Mapping[str, tuple[int, ...]] | None = None,
        shapes: Mapping[str, str | None] | None = None,
        roots: tuple[str, ...] = (),
        check: Callable[..., None] | None = None,
        formula: Callable[..., Any] | None = None,
        public: Callable[..., tuple[Any, ...]] = _same,
        keywords: Mapping[str, Any] | None = None,
    ) -> None:
        orders, shapes = orders or {}, shapes or {}
        self.operator, self.public_arguments, self.keywords = operator, public, dict(keywords or {})
        self.roots = roots
        self.orders = tuple(orders.get(tensor.name) for tensor in operator.inputs)
        self._results = tuple(
            _Result(
                shapes.get(tensor.name, "") is None,
                orders.get(tensor.name),
                _view(tensor.shape, shapes.get(tensor.name) or ""),
                tensor.name in roots,
            )
            for tensor in operator.outputs
        )
        self._check, self._formula = check, formula
        self._function: Callable[..., Any] | None = None
        self.direct = operator.direct(orders, shapes, roots, self._otherwise)

    def __call__(self, function: _Function) -> _Function:
        """Make `function` the public one, as a decorator. Declarations that are alternatives share a function."""
        name = function.__name__
        FUNCTIONS.setdefault(name, []).append(self)
        self._function = function
        text = (
            f"pymluops.torch.{name}: torch.jit.script does not compile it; take torch.jit.trace or torch.export.export"
            f", or call torch.ops.{self.operator.qualname.replace('::', '.')}, with the layouts of mlu-ops"
        )
        setattr(function, "__script_unsupported", text)
        # Programs of torch.fx name it so; the submodule of the same name is hidden behind the
        # function.
        function.__module__ = "pymluops.torch"
        return function

    def _otherwise(self, *arguments: Any) -> Any:
        tensors = arguments[: len(self.operator.inputs)]
        self._refuse_other_layouts(tensors)
        if is_overridden(tensors):
            return override(self._function, tensors, *self.public_arguments(*arguments), **self.keywords)
        for given, described in zip(tensors, self.operator.inputs, strict=True):
            if not isinstance(given, torch.Tensor):
                name, found = getattr(self._function, "__name__", ""), type(given).__qualname__
                raise TypeError(f"{name}: {described.name}: expected a tensor of PyTorch, got {found}")
        return self.through_torch(*arguments)

    def _refuse_other_layouts(self, tensors: tuple[Any, ...]) -> None:
        """Refuse sparse, nested, quantized and masked tensors by name; torch would name a function of its own."""
        for given, described in zip(tensors, self.operator.inputs, strict=True):
            problem = of_tensor(given) if isinstance(given, torch.Tensor) else None
            if problem is not None:
                name, call = getattr(self._function, "__name__", ""), plain(given, described.name)
                raise TypeError(f"{name}: {described.name}: expected {problem}; {call} would do")

    def through_torch(self, *arguments: Any) -> Any:
        """Call the operator by torch's dispatcher."""
        if self._check is not None:
            self._check(*arguments)
        if self._formula is not None and exporting_to_onnx():
            return self._formula(*arguments)
        given = list(arguments)
        for i, order in enumerate(self.orders):
            if order is not None:
                given[i] = arguments[i].permute(order).contiguous()
        found = self.operator.through_torch(*given)
        outputs = found if isinstance(found, tuple) else (found,)
        results = [
            result.of(output) for result, output in zip(self._results, outputs, strict=True) if not result.dropped
        ]
        return results[0] if len(results) == 1 else tuple(results)


def _view(shape: str, wanted: str) -> tuple[tuple[int, ...], ...] | None:
    """Return the dims of an output of `shape` whose product is each dim of the `wanted` one, or None for none."""
    dims = {term: i for i, term in enumerate(shape.split())}
    return tuple(tuple(dims[name] for name in term.split("*")) for term in wanted.split()) or None
