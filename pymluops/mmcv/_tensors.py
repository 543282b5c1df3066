"""What every function of the extension does with tensors: checks, types, results written in place."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any, ParamSpec, TypeVar, cast

from pymluops.errors import MluOpError
from pymluops.mmcv._fitting import ShapeError, call_again
from pymluops.mmcv._torch import Tensor, load_torch

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

#: Types of values, as PyTorch names them. A compiled mmcv takes all but bfloat16.
FLOATS = ("float32", "float64", "float16", "bfloat16")


def extension_function(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Make a function one of a compiled extension.

    It takes integers of NumPy, and tensors that are one, where it wants ints, and raises
    RuntimeError where the operator raises an error of this package.
    """
    return _made(function, {})


def extension_function_of(
    **shapes: str,
) -> Callable[[Callable[_Arguments, _Result]], Callable[_Arguments, _Result]]:
    """Make a function one of a compiled extension that takes tensors in other shapes too.

    Parameters
    ----------
    **shapes : str
        The shapes of tensors that a compiled extension reads by their memory, and of those that
        tell their sizes, in the terms of `pymluops.mmcv._shapes.Shape`.
    """
    return lambda function: _made(function, shapes)


def _made(function: Callable[_Arguments, _Result], shapes: Mapping[str, str]) -> Callable[_Arguments, _Result]:
    signature = inspect.signature(function)
    parameters = signature.parameters
    integers = {name: i for i, name in enumerate(parameters) if parameters[name].annotation == "int"}

    @functools.wraps(function)
    def call(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        refuse_tracing(function.__name__)
        given: list[Any] = list(args)
        for name, i in integers.items():
            if i < len(given):
                given[i] = whole_number(function.__name__, name, given[i])
            elif name in kwargs:
                kwargs[name] = whole_number(function.__name__, name, kwargs[name])
        run = cast("Callable[..., _Result]", function)
        try:
            try:
                return run(*given, **kwargs)
            except ShapeError as refusal:
                if not shapes:
                    raise
                again = call_again(run, signature.bind(*given, **kwargs).arguments, shapes, refusal)
                return cast("_Result", again)
        except MluOpError as error:
            raise as_runtime_error(function.__name__, error) from error

    return unseen_by_compilers(call)


def as_runtime_error(function: str, error: MluOpError) -> RuntimeError:
    """Return the error that a function of a compiled extension raises."""
    return RuntimeError(f"{function}: {str(error).removeprefix(f'{function}: ')}")


def unseen_by_compilers(call: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Mark a function of the extension, which no graph contains a call of."""
    setattr(call, "_torchdynamo_disable", True)  # noqa: B010 - torch's name for it
    _WRAPPERS.add(cast("FunctionType", call).__code__)
    return call


#: The code of the marked functions: one object for all that are made in one place.
_WRAPPERS: set[CodeType] = set()


def leave_to_python() -> None:
    """Let torch.compile run functions of the extension, and all that they call, as they are.

    ``torch.compiler.disable`` would do this too, but imports the compiler, which takes seconds.
    """
    compiler: Any = load_torch()._C._dynamo.eval_frame
    if hasattr(
        compiler, "set_code_exec_strategy"
    ):  # else an older PyTorch, which looks into them and ends its graphs there
        skip = compiler._FrameExecStrategy(compiler._FrameAction.SKIP, compiler._FrameAction.SKIP)
        for code in _WRAPPERS:
            compiler.set_code_exec_strategy(code, skip)


def refuse_tracing(function: str) -> None:
    """Refuse a call that a trace would not see: its program would have the results of this one call for ever."""
    state = load_torch()._C
    modes = state._len_torch_dispatch_stack()
    if not modes:
        return
    for number in range(modes):
        mode = type(state._get_dispatch_stack_at(number)).__name__
        if mode in ("ProxyTorchDispatchMode", "FakeTensorMode", "FunctionalTensorMode"):
            others = "take those of pymluops.torch, or torch.compile"
            raise RuntimeError(f"{function}: make_fx and torch.export cannot trace functions of mmcv; {others}")


def whole_number(function: str, argument: str, value: Any) -> int:
    """Return the integer that a value is: an int, a bool, an integer of NumPy or in a tensor, or a whole float."""
    given: Any = value
    if type(given) is int:
        return given
    if isinstance(given, float) and given.is_integer():
        return int(given)
    try:
        return operator.index(cast("Any", given))
    except TypeError:
        raise refuse(function, argument, "an integer", value) from None


def refuse(function: str, argument: str, expected: str, found: object) -> RuntimeError:
    """Return the error for an argument that is not as expected."""
    return RuntimeError(f"{function}: {argument}: expected {expected}, got {found}")


def check_tensors(function: str, types: Iterable[str], tensors: dict[str, Tensor]) -> Any:
    """Check that all tensors are on the CPU and have one type out of `types`; return this type."""
    torch = load_torch()
    names = tuple(types)
    allowed = tuple(getattr(torch, name) for name in names)
    first = next(iter(tensors))
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise refuse(function, name, "a tensor", type(tensor).__name__)
        if tensor.device.type != "cpu":
            raise refuse(function, name, "a CPU tensor", f"one on {tensor.device}")
        if tensor.layout is not torch.strided:
            raise refuse(function, name, "a dense tensor", str(tensor.layout).removeprefix("torch."))
        if name == first and tensor.dtype not in allowed:
            raise refuse(function, name, " or ".join(names), _dtype_name(tensor))
        if tensor.dtype != tensors[first].dtype:
            expected = f"{_dtype_name(tensors[first])}, like {first}" if len(names) > 1 else " or ".join(names)
            raise refuse(function, name, expected, _dtype_name(tensor))
    return tensors[first].dtype


def check_floats(function: str, **tensors: Tensor) -> Any:
    """Check that the tensors have one floating type, and return it."""
    return check_tensors(function, FLOATS, tensors)


def check_int32(function: str, **tensors: Tensor) -> None:
    """Check that the tensors are of int32."""
    check_tensors(function, ("int32",), tensors)


def check_shape(function: str, name: str, tensor: Tensor, shape: Sequence[int | None]) -> None:
    """Check the shape of a tensor; None stands for any number."""
    found = tuple(tensor.shape)
    if len(found) != len(shape) or any(
        want is not None and want != have for want, have in zip(shape, found, strict=True)
    ):
        raise ShapeError(refuse(function, name, f"shape {_shape(shape)}", f"shape {_shape(found)}"))


def check_indices(function: str, name: str, indices: Tensor, end: int) -> None:
    """Check that all values are numbers from 0 to `end` - 1."""
    wrong = (indices < 0) | (indices >= end)
    if bool(wrong.any()):
        value = int(indices[wrong][0])
        raise refuse(function, name, f"values from 0 to {end - 1}", value)


def check_rows(function: str, counts_name: str, counts: Tensor, name: str, rows: Tensor) -> None:
    """Check that a stacked tensor has the rows of all batches, whose numbers are the counts."""
    if bool((counts < 0).any()):
        raise refuse(function, counts_name, "numbers of points", counts.tolist())
    check_shape(function, name, rows, (int(counts.sum()), *rows.shape[1:]))


def check_counts(function: str, name: str, counts: Tensor, rows: int) -> None:
    """Check that no count is negative, and that their sum is no more than the rows."""
    if bool((counts < 0).any()) or int(counts.sum()) > rows:
        raise refuse(function, name, f"numbers of {rows} rows", counts.tolist())


def check_pairs(function: str, pairs: Tensor, counts: Tensor) -> None:
    """Check the pairs of a sparse convolution and their counts by cell."""
    check_shape(function, "indiceNum", counts, (None,))
    check_shape(function, "indicePairs", pairs, (len(counts), 2, None))
    if len(counts) and not 0 <= int(counts.min()) <= int(counts.max()) <= pairs.shape[2]:
        raise refuse(function, "indiceNum", f"numbers from 0 to {pairs.shape[2]}", counts.tolist())


def dense(tensor: Tensor, dtype: Any = None) -> Tensor:
    """Return the values without autograd, contiguous, of `dtype` if it is given; a copy only where one is needed."""
    plain = tensor.detach()
    if dtype is not None and plain.dtype != dtype:
        plain = plain.to(dtype)
    plain = plain.contiguous().resolve_neg()
    if plain.ndim and plain.stride(-1) != 1:  # of one element, along which PyTorch allows any stride
        plain = plain.view(-1).view(plain.shape)
    return plain


def is_ready(tensor: Tensor, dtype: Any) -> bool:
    """Whether an operator can read or write a tensor as it is: `dense` and `writable` would return its values."""
    if tensor.dtype is not dtype or tensor.requires_grad or not tensor.is_contiguous() or tensor.is_neg():
        return False
    return type(tensor) is load_torch().Tensor


def writable(target: Tensor, dtype: Any) -> Tensor:
    """Return `target` itself if an operator can write it, contiguous and of `dtype`, else such a copy."""
    if target.is_contiguous() and target.dtype == dtype and not target.is_neg():
        return target
    return target.to(dtype, copy=True, memory_format=load_torch().contiguous_format).resolve_neg()


def compute_type(dtype: Any, *native: Any) -> Any:
    """Return the type to compute in: `dtype` if it is float64 or one of the kernel's, else float32."""
    torch = load_torch()
    return dtype if dtype in (torch.float64, *(native or (torch.float32, torch.float16))) else torch.float32


def _shape(shape: Sequence[int | None]) -> str:
    return "[" + ", ".join("any" if n is None else str(n) for n in shape) + "]"


def _dtype_name(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
