"""Which calls PyTorch must see: those that it compiles, traces, transforms or watches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from pymluops.torch._modes import untraced

__all__ = [
    "compiling",
    "differentiate",
    "register",
    "register_composite",
    "shapes_of",
    "tracing",
    "transformed",
    "watched",
]

_state: Any = torch._C
_library: Any = torch.library
compiling: Callable[[], bool] = torch.compiler.is_compiling
transformed: Callable[[], Any] = _state._functorch.peek_interpreter_stack
_get_trace: Callable[[], Any] = _state._get_tracing_state
_MODES = (_state._len_torch_dispatch_stack, _state._is_torch_function_mode_enabled, _get_trace)
_PLAIN = (Tensor, torch.nn.Parameter)


def watched(*tensors: Tensor) -> bool:
    """Whether a call has to go through PyTorch's dispatcher: under a mode, or with tensors that have no values here."""
    if compiling() or any(mode() for mode in _MODES):
        return True
    return any(type(tensor) not in _PLAIN or tensor.device.type != "cpu" for tensor in tensors)


def tracing() -> bool:
    """Whether torch.jit.trace records this call."""
    return not compiling() and _get_trace() is not None


def shapes_of(*tensors: Tensor) -> list[list[Any]]:
    """Return the shapes of tensors for checks, which torch.jit.trace shall not record."""
    if not tracing():
        return [list(tensor.shape) for tensor in tensors]
    trace = _get_trace()
    _state._set_tracing_state(None)
    try:
        return [list(tensor.shape) for tensor in tensors]
    finally:
        _state._set_tracing_state(trace)


def register(schema: str, call: Any, fake: Any) -> Any:
    """Register an operator without a gradient as ``pymluops::name``, and return it."""
    name = schema.partition("(")[0]
    _library.define(f"pymluops::{name}", schema[len(name) :])
    _library.impl(f"pymluops::{name}", "cpu", untraced(call))
    _library.register_fake(f"pymluops::{name}", fake)
    return getattr(torch.ops.pymluops, name)


def register_composite(schema: str, call: Any) -> Any:
    """Register an operator that calls others, which have the gradients, and return it."""
    name = schema.partition("(")[0]
    _library.define(f"pymluops::{name}", schema[len(name) :])
    _library.impl(f"pymluops::{name}", "CompositeImplicitAutograd", call)
    return getattr(torch.ops.pymluops, name)


def differentiate(operator: Any, setup: Any, backward: Any) -> Any:
    """Give a registered operator a gradient, also for the transforms of torch.func; return the function to call."""
    _library.register_autograd(operator.default._name, backward, setup_context=setup)
    methods = {"forward": operator, "setup_context": setup, "backward": backward}
    name = operator.default._name.partition("::")[2]
    function: Any = type(name, (torch.autograd.Function,), {key: staticmethod(part) for key, part in methods.items()})

    def call(*arguments: Any) -> Any:
        return function.apply(*arguments) if not compiling() and transformed() is not None else operator(*arguments)

    return call
