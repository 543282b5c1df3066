"""The contents of the module ``mmcv._ext``: our functions, and refusals under all other names."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from typing import Any, NoReturn

from pymluops.mmcv import _operators, _sparse
from pymluops.mmcv._names import MODULE_OF, advice
from pymluops.mmcv._tensors import leave_to_python


def get_compiler_version() -> str:
    """Return what `mmcv.ops.get_compiler_version` gives: who made the extension."""
    return f"pymluops {metadata.version('pymluops')}"


def get_compiling_cuda_version() -> str:
    """Return what a compiled mmcv without CUDA answers."""
    return "not available"


#: The functions that compute.
IMPLEMENTED: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        _operators.ball_query_forward,
        _operators.border_align_backward,
        _operators.border_align_forward,
        _operators.ms_deform_attn_backward,
        _operators.ms_deform_attn_forward,
        _operators.psamask_backward,
        _operators.psamask_forward,
        _operators.stack_ball_query_forward,
        _operators.three_interpolate_backward,
        _operators.three_interpolate_forward,
        _operators.three_nn_forward,
        _operators.tin_shift_backward,
        _operators.tin_shift_forward,
        _sparse.fused_indice_conv_forward,
        _sparse.get_indice_pairs_2d_backward,
        _sparse.get_indice_pairs_2d_forward,
        _sparse.get_indice_pairs_3d_backward,
        _sparse.get_indice_pairs_3d_forward,
        _sparse.get_indice_pairs_4d_forward,
        _sparse.indice_conv_backward,
        _sparse.indice_conv_forward,
        _sparse.indice_maxpool_backward,
        _sparse.indice_maxpool_forward,
        get_compiler_version,
        get_compiling_cuda_version,
    )
}


def refusal(name: str) -> Callable[..., NoReturn]:
    """Return a function that says, whatever it is called with, what to install in order to have `name`.

    It raises NotImplementedError, which PyTorch raises for an operator that lacks a kernel for the CPU, and which is a
    RuntimeError, as users of a compiled mmcv expect.
    """
    module = MODULE_OF.get(name)
    operator = f"mmcv.ops.{module}" if module else "mmcv.ops"
    text = f"{name} of {operator} is no operator of pymluops; install {advice(name)}"

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(text)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Raise NotImplementedError: {text}."
    return refuse


def contents() -> dict[str, Any]:
    """Return the attributes of the module: every function that mmcv 2.2.0 loads.

    Releases of mmcv differ in a few names that they load, so the module has a refusal for every other public name too.
    """
    leave_to_python()
    functions = {name: IMPLEMENTED.get(name) or refusal(name) for name in MODULE_OF}

    def other(name: str) -> Callable[..., NoReturn]:
        if name.startswith("_"):
            raise AttributeError(f"module 'mmcv._ext' of pymluops has no attribute {name!r}")
        return refusal(name)

    return {**functions, "__getattr__": other, "__doc__": "The operators of mmcv, computed by pymluops on the CPU."}
