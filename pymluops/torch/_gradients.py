"""Gradients of registered operators, in every way that PyTorch asks for them.

What `torch.library.register_autograd` registers knows backward passes alone: it drops the tangents
of forward mode without a word and does not go together with the transforms of torch.func. Here the
gradient of an operator is one `torch.autograd.Function` with a rule for each of these, and two
kernels of the operator lead to it, whether a program calls the function of this package,
`torch.ops` or a compiled graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import torch
from torch.autograd import forward_ad

__all__ = ["connect_gradient", "in_forward_mode"]

_state: Any = torch._C
_level: Any = forward_ad
_unpack_dual: Any = cast("Any", torch)._VF._unpack_dual


def in_forward_mode() -> bool:
    """Whether tensors may have tangents."""
    return _level._current_level >= 0


def _any_tangent(tensors: Iterable[torch.Tensor]) -> bool:
    """Whether a tensor may have a tangent; `in_forward_mode` does not know of those of a compiled graph."""
    if not _state._is_fwd_grad_enabled():
        return False
    if _state._len_torch_dispatch_stack():  # a mode would see what looks for tangents
        return True
    return any(tensor.is_floating_point() and _unpack_dual(tensor, level=0)[1] is not None for tensor in tensors)


def connect_gradient(
    library: Any,
    overload: Any,
    *,
    setup: Callable[..., None],
    backward: Callable[..., Any],
    jvp: Callable[..., Any],
    vmap: Callable[..., Any],
    autocast: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None,
) -> None:
    """Give a registered operator its gradient.

    Parameters
    ----------
    library : torch.library.Library
        Of the operator's namespace.
    overload : torch.OpOverload
        The operator; its arguments are positional.
    setup, backward, jvp, vmap : function
        As those of a `torch.autograd.Function`; a gradient or tangent that is not there is None.
        `jvp` finds all tensors among the arguments in ``ctx.saved_tensors`` and the others in
        ``ctx.scalars``.
    autocast : function, optional
        Casts the arguments as autocast does. Transforms of torch.func come before autocast, and
        would differentiate with respect to what it has not cast yet.
    """

    def forward(*arguments: Any) -> Any:
        with _state._AutoDispatchBelowAutograd():
            return overload(*arguments)

    def keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        setup(ctx, inputs, output)
        ctx.set_materialize_grads(False)  # `jvp` tells tangents of 0 from none
        ctx.save_for_forward(*(one for one in inputs if isinstance(one, torch.Tensor)))
        ctx.scalars = tuple(one for one in inputs if not isinstance(one, torch.Tensor))

    parts: dict[str, Callable[..., Any]] = {
        "forward": forward,
        "setup_context": keep,
        "backward": backward,
        "jvp": jvp,
        "vmap": vmap,
    }
    methods = {name: staticmethod(part) for name, part in parts.items()}
    function: Any = type(overload._opname, (torch.autograd.Function,), methods)
    # Transforms have been dealt with when autograd's turn comes; looking for them takes half as
    # long as all the rest.
    record: Any = cast("Any", super(torch.autograd.Function, function)).apply

    def under_autograd(*arguments: Any) -> Any:
        tensors = [one for one in arguments if isinstance(one, torch.Tensor)]
        if torch.is_grad_enabled():
            for tensor in tensors:
                if tensor.requires_grad:
                    return record(*arguments)
        return record(*arguments) if _any_tangent(tensors) else forward(*arguments)

    def under_transforms(*arguments: Any) -> Any:
        if autocast is not None and torch.is_autocast_enabled("cpu"):
            arguments = autocast(arguments)
        interpreter = _functionalization()
        if interpreter is not None:
            return _functionalized(interpreter, overload, arguments)
        return function.apply(*arguments)

    library.impl(overload._opname, under_autograd, "Autograd")
    library.impl(overload._opname, under_transforms, "FuncTorchDynamicLayerFrontMode")


# ---- torch.func.functionalize, which a torch.autograd.Function has no rule for -------------------


def _functionalization() -> Any:
    """Return the interpreter of the innermost transform if that is functionalization, else None."""
    functorch = _state._functorch
    if functorch.peek_interpreter_stack().key() != functorch.TransformType.Functionalize:
        return None
    from torch._functorch.pyfunctorch import retrieve_current_functorch_interpreter

    return retrieve_current_functorch_interpreter()


def _functionalized(interpreter: Any, overload: Any, arguments: tuple[Any, ...]) -> Any:
    """Call an operator, which changes no argument, on the values behind functional tensors."""
    functorch, torch_state = _state._functorch, torch

    def plain(one: Any) -> Any:
        functional = isinstance(one, torch.Tensor) and torch_state._is_functional_tensor(one)
        return functorch._unwrap_functional_tensor(one, True) if functional else one

    with interpreter.lower():
        found = overload(*map(plain, arguments))
    level = interpreter.level()
    if isinstance(found, tuple):
        return tuple(functorch._wrap_functional_tensor(one, level) for one in found)
    return functorch._wrap_functional_tensor(found, level)
