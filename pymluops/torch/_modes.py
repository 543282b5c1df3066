"""What the functions do in PyTorch's modes: overrides, export to ONNX, TorchScript."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn, cast

import torch
from torch.overrides import handle_torch_function, has_torch_function

__all__ = ["TracedModule", "exporting_to_onnx", "has_values", "is_overridden", "override", "sizes", "untraced"]

_compiling = torch.compiler.is_compiling
_state: Any = torch._C
_get_tracing_state = _state._get_tracing_state

#: For programs that torch.fx traces, subclasses of tensors and modes of PyTorch that see functions:
#: whether an argument says itself what the function does, and calling it.
is_overridden: Any = has_torch_function
override: Any = handle_torch_function


def sizes(tensor: torch.Tensor) -> Any:
    """Return the sizes of a tensor as numbers, which they are not to torch.jit.trace."""
    state = _get_tracing_state()
    if state is None:
        return tensor.shape
    _state._set_tracing_state(None)
    try:
        return tensor.shape
    finally:
        _state._set_tracing_state(state)


def has_values(tensor: torch.Tensor) -> bool:
    """Whether the values of a tensor can be looked at, without a trace that would keep them."""
    watched = _compiling() or _get_tracing_state() or _state._len_torch_dispatch_stack()
    transformed = _state._functorch.peek_interpreter_stack() is not None
    return type(tensor) is torch.Tensor and not (tensor.is_meta or watched or transformed)


def _onnx() -> bool:
    # Asking imports the exporter, which a program that does not use it need not wait for.
    return "torch.onnx" in sys.modules and torch.onnx.is_in_onnx_export()


_is_onnx: Any = cast("Any", torch.compiler).assume_constant_result(_onnx)


def exporting_to_onnx() -> bool:
    """Whether `torch.onnx.export` traces the program."""
    return (_compiling() or _get_tracing_state() is not None) and _is_onnx()


def untraced(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that TorchDynamo never looks into, not even where a graph ends at its operator."""
    disabled: Any = cast("Any", torch)._disable_dynamo(call)

    def function(*arguments: Any) -> Any:
        # The first call of what PyTorch disables imports TorchDynamo, which takes a second.
        return disabled(*arguments) if "torch._dynamo" in sys.modules else call(*arguments)

    return function


class TracedModule(torch.nn.Module):
    """A module that torch.jit.script refuses in one sentence."""

    def __prepare_scriptable__(self) -> NoReturn:
        raise RuntimeError(
            f"pymluops.torch.{type(self).__name__}: torch.jit.script does not compile it; take torch.jit.trace or "
            "torch.export.export"
        )
