"""Operators of the library as operators of torch.

`TorchOperator` registers one `pymluops._core.Operator` with torch.library. Its schema, what a fake call returns, how
vmap folds a dim into the batch: all is derived from the operator's description. `differentiate` connects it with the
operator that computes its gradient, by the names of their arguments.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import torch

from pymluops import library
from pymluops._core import Handle, Operator, TensorCall
from pymluops._torch_threads import thread_follower
from pymluops.enums import DataType
from pymluops.errors import BadParamError
from pymluops.ops._double import allowed_types, double_of, is_floating
from pymluops.torch._shapes import match, read_shape, shape_of

__all__ = ["NAMESPACE", "TorchOperator", "follow_threads"]

NAMESPACE = "pymluops"
_LIBRARY = torch.library.Library(NAMESPACE, "FRAGMENT")

# ---- Calls that need nothing of torch's dispatcher -------------------------------------------------------------------

follow_threads = thread_follower()

_state: Any = torch._C
_transforms = _state._functorch.peek_interpreter_stack
_compiling = torch.compiler.is_compiling
#: What they return is true if something watches, transforms or casts calls now.
_WATCHERS = (
    _state._len_torch_dispatch_stack,
    _state._is_torch_function_mode_enabled,
    _transforms,
    _state._is_any_autocast_enabled,
    _state._get_tracing_state,
)


# ---- Operators -------------------------------------------------------------------------------------------------------


class TorchOperator:
    """An operator of the library, registered with torch as ``pymluops::name``.

    Parameters
    ----------
    operator : Operator
        Its inputs and scalars are the arguments, its outputs the results.
    name : str, optional
        Name in torch; that of `operator` if not given.
    validate : bool
        Indices are looked at before anything is computed.
    autocast : bool
        Under autocast, floating arguments are cast to float32.

    Attributes
    ----------
    operator : Operator
    qualname : str
        The name with its namespace.
    """

    def __init__(self, operator: Operator, name: str = "", *, validate: bool = False, autocast: bool = True) -> None:
        self.operator = operator
        self.qualname = f"{NAMESPACE}::{name or operator.name}"
        self.inputs = tuple(tensor for tensor in operator.tensors if not tensor.output)
        self.outputs = tuple(tensor for tensor in operator.tensors if tensor.output)
        assert not any(tensor.in_place or tensor.optional for tensor in operator.tensors), operator.name
        self.scalars = _scalar_names(operator)
        self._symbols = tuple(scalar.symbol or scalar.name for scalar in operator.scalars)
        self._shapes = {tensor.name: read_shape(tensor.shape) for tensor in operator.tensors}
        self._kinds = {tensor.name: is_floating(operator, tensor) for tensor in operator.tensors}
        self._floating = [i for i, tensor in enumerate(self.inputs) if self._kinds[tensor.name]]
        self._native = _native_types(operator)
        self._double: Operator | None = None
        self._gradient_of = ""  # the input that is a gradient: where it is empty, results are zeros
        self._function: Any = None  # the gradient for transforms of torch.func
        self._validate = validate
        self._missing = (None,) * len(self.outputs)
        self._direct = self.direct()
        self._register(name or operator.name, autocast)

    def _register(self, name: str, autocast: bool) -> None:
        torch.library.define(self.qualname, self._schema(), lib=_LIBRARY, tags=torch.Tag.pt2_compliant_tag)
        torch.library.impl(self.qualname, "CPU", self._compute, lib=_LIBRARY)
        torch.library.impl(self.qualname, "PrivateUse1", self._compute_on_mlu, lib=_LIBRARY)
        torch.library.register_fake(self.qualname, self._fake, lib=_LIBRARY)
        torch.library.register_vmap(self.qualname, self._vmap, lib=_LIBRARY)
        if autocast:
            torch.library.register_autocast(self.qualname, "cpu", torch.float32, lib=_LIBRARY)
        self.overload: Callable[..., Any] = getattr(getattr(torch.ops, NAMESPACE), name).default

    def _schema(self) -> str:
        arguments = [f"Tensor {tensor.name}" for tensor in self.inputs]
        kinds = {"int": "SymInt", "float": "float", "bool": "bool"}
        arguments += [
            f"{kinds[kind]} {name}" for kind, name in zip(self.operator.scalar_types, self.scalars, strict=True)
        ]
        results = ", ".join(["Tensor"] * len(self.outputs))
        return f"({', '.join(arguments)}) -> {results if len(self.outputs) == 1 else f'({results})'}"

    def __call__(self, *arguments: Any) -> Any:
        """Call it: tensors, then scalars. The library is called directly where torch's dispatcher adds nothing."""
        if _compiling():
            return self.overload(*arguments)
        found = self._direct(*arguments)
        if found is not None:
            return found
        if self._function is not None and _transforms() is not None:
            return self._function.apply(*arguments)
        return self.overload(*arguments)

    def direct(
        self,
        orders: Mapping[str, tuple[int, ...]] | None = None,
        shapes: Mapping[str, str | None] | None = None,
        roots: tuple[str, ...] = (),
    ) -> TensorCall:
        """Return the direct way to the library, for tensors of another layout too; see `TensorCall`."""
        given = self.operator, _WATCHERS, follow_threads, self._validate
        return TensorCall(*given, orders=orders, shapes=shapes, roots=roots)

    # -- Computing -----------------------------------------------------------------------------------------------------

    def _compute(self, *arguments: Any) -> Any:
        follow_threads()
        return self._run(None, arguments)

    def _compute_on_mlu(self, *arguments: Any) -> Any:
        return self._run(_mlu_handle(), arguments)

    def _run(self, handle: Handle | None, arguments: tuple[Any, ...]) -> Any:
        tensors, scalars = arguments[: len(self.inputs)], arguments[len(self.inputs) :]
        given = self._floating_dtype(tensors)
        empty = self._empty_results(tensors, arguments)
        if empty is not None:
            return empty
        operator, used = self.operator, given
        if given == torch.float64:
            operator = self._double = self._double or double_of(self.operator)
        elif given is not None and given not in self._native:
            used = torch.float32
        ready = [self._prepared(i, tensor, used) for i, tensor in enumerate(tensors)]
        results = operator(handle, (*ready, *self._missing), scalars, self._validate)
        if used == given:
            return results
        results = results if len(self.outputs) > 1 else (results,)
        made: Any = tuple(result.to(given) if result.is_floating_point() else result for result in results)
        return made if len(made) > 1 else made[0]

    def _floating_dtype(self, tensors: Sequence[torch.Tensor]) -> torch.dtype | None:
        """Return the one type of the floating arguments."""
        dtypes = [tensors[i].dtype for i in self._floating]
        for i, dtype in zip(self._floating, dtypes, strict=True):
            if dtype not in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
                raise self._refusal(i, "dtype float32, float16, bfloat16 or float64", dtype)
            if dtype != dtypes[0]:
                first = self.inputs[self._floating[0]].name
                raise self._refusal(i, f"dtype {_text(dtypes[0])} like {first}", dtype)
        return dtypes[0] if dtypes else None

    def _refusal(self, i: int, expected: str, got: object) -> BadParamError:
        text = f"{self.operator.name}: {self.inputs[i].name}: expected {expected}, got {_text(got)}"
        return BadParamError(text, function=self.operator.function)

    def _prepared(self, i: int, tensor: torch.Tensor, dtype: torch.dtype | None) -> torch.Tensor:
        """Return an argument in the type that the library computes in, contiguous."""
        if i not in self._floating and tensor.dtype != torch.int32:
            if tensor.dtype != torch.int64:
                raise self._refusal(i, "dtype int32 or int64", tensor.dtype)
            narrow = tensor.to(torch.int32)
            if not torch.equal(narrow.to(torch.int64), tensor):
                raise self._refusal(i, "values that int32 can hold", "larger ones")
            return narrow.contiguous()
        return (tensor.to(dtype) if i in self._floating else tensor).detach().contiguous()

    def _empty_results(self, tensors: Sequence[torch.Tensor], arguments: tuple[Any, ...]) -> Any:
        """Return the results where there is nothing to compute, which the library refuses, or None."""
        if all(tensor.numel() != 0 for tensor in tensors):
            return None
        shapes = self._result_shapes(arguments)
        nothing_flows = any(
            tensor.numel() == 0 for tensor, of in zip(tensors, self.inputs, strict=True) if of.name == self._gradient_of
        )
        if nothing_flows or all(0 in shape for shape in shapes):
            return self._made(tensors, shapes, torch.Tensor.new_zeros)
        return None

    # -- Without values ------------------------------------------------------------------------------------------------

    def symbols(self, arguments: Sequence[Any]) -> dict[str, Any]:
        """Return the values of the symbols of a call, and those of its scalars under their names."""
        values: dict[str, Any] = dict(zip(self._symbols, arguments[len(self.inputs) :], strict=True))
        for tensor, of in zip(arguments, self.inputs, strict=False):
            match(f"{self.operator.name}: {of.name}", tensor.shape, self._shapes[of.name], values)
        return values

    def _result_shapes(self, arguments: Sequence[Any]) -> list[list[Any]]:
        values = self.symbols(arguments)
        return [shape_of(self._shapes[tensor.name], values) for tensor in self.outputs]

    def _made(self, tensors: Sequence[torch.Tensor], shapes: Sequence[list[Any]], make: Callable[..., Any]) -> Any:
        like = tensors[self._floating[0]] if self._floating else tensors[0]
        made = [
            make(like, shape, dtype=like.dtype if self._kinds[of.name] else torch.int32)
            for shape, of in zip(shapes, self.outputs, strict=True)
        ]
        return made[0] if len(made) == 1 else tuple(made)

    def _fake(self, *arguments: Any) -> Any:
        tensors = arguments[: len(self.inputs)]
        self._floating_dtype(tensors)
        return self._made(tensors, self._result_shapes(arguments), torch.Tensor.new_empty)

    def _vmap(self, info: Any, in_dims: tuple[int | None, ...], *arguments: Any) -> Any:
        """Fold the mapped dim into the batch, which the first dim of most arrays is."""
        batch = self._shapes[self.inputs[0].name][0].symbol
        folded: list[Any] = []
        for i, argument in enumerate(arguments):
            if i >= len(self.inputs):
                folded.append(argument)
                continue
            if self._shapes[self.inputs[i].name][0].symbol != batch:
                if in_dims[i] is not None:
                    shared = f"takes one {self.inputs[i].name} for a whole batch"
                    raise NotImplementedError(f"vmap: {self.qualname} {shared}, so vmap cannot map over it")
                folded.append(argument)
                continue
            whole = argument.movedim(in_dims[i], 0) if in_dims[i] is not None else argument.unsqueeze(0)
            folded.append(whole.expand(info.batch_size, *whole.shape[1:]).flatten(0, 1))
        results = self.overload(*folded)
        each = results if isinstance(results, tuple) else (results,)
        # Both sizes are named, since one of them may be 0.
        first = next(i for i, of in enumerate(self.inputs) if self._shapes[of.name][0].symbol == batch)
        size = folded[first].shape[0] // info.batch_size if info.batch_size else 0
        each = tuple(result.reshape(info.batch_size, size, *result.shape[1:]) for result in each)
        return (each, (0,) * len(each)) if isinstance(results, tuple) else (each[0], 0)

    # -- Gradients -----------------------------------------------------------------------------------------------------

    def differentiate(
        self,
        by: TorchOperator,
        given: str,
        of: Mapping[str, str],
        change: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] | None = None,
    ) -> None:
        """Let another operator compute the gradient of this one.

        Its other arguments are found by their names: inputs, outputs, scalars or symbols of this operator.

        Parameters
        ----------
        by : TorchOperator
            The operator.
        given : str
            Its input that takes the gradient with respect to the first result.
        of : mapping of str to str
            For each input of this operator that has a gradient, the result of `by` that is it.
        change : mapping of str to function, optional
            What is done to an input before `by` gets it.
        """
        if by._function is None:  # else `by` is the forward direction, and this the gradient
            by._gradient_of = given
        names = [tensor.name for tensor in self.inputs]
        made = [tensor.name for tensor in self.outputs]
        kept = [tensor.name for tensor in by.inputs if tensor.name != given]
        results = [tensor.name for tensor in by.outputs]
        places = {names.index(name): results.index(result) for name, result in of.items()}

        def setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            outputs = output if isinstance(output, tuple) else (output,)
            ctx.mark_non_differentiable(*(result for result in outputs if not result.is_floating_point()))
            found = dict(zip(names, inputs, strict=False)) | {
                name: result for name, result in zip(made, outputs, strict=True) if name not in names
            }
            ctx.save_for_backward(*(found[name] for name in kept))
            values = dict(zip(self.scalars, inputs[len(names) :], strict=True))
            if not set(by.scalars) <= set(values):
                values |= self.symbols(inputs)
            ctx.numbers = [
                values[name if name in values else symbol] for name, symbol in zip(by.scalars, by._symbols, strict=True)
            ]

        def backward(ctx: Any, grad: torch.Tensor, *_: Any) -> Any:
            saved = dict(zip(kept, ctx.saved_tensors, strict=True))
            for name, function in (change or {}).items():
                saved[name] = function(saved[name])
            found = by(*(grad if tensor.name == given else saved[tensor.name] for tensor in by.inputs), *ctx.numbers)
            found = found if isinstance(found, tuple) else (found,)
            return tuple(
                found[places[i]] if i in places and ctx.needs_input_grad[i] else None
                for i in range(len(names) + len(self.scalars))
            )

        self._connect(setup, backward)

    def refuse_gradient(self, reason: str) -> None:
        """Let a gradient of this operator be refused with one sentence."""

        def backward(ctx: Any, *grads: Any) -> NoReturn:
            raise NotImplementedError(f"{self.qualname}: {reason}")

        self._connect(lambda ctx, inputs, output: None, backward)

    def without_gradient(self) -> None:
        """Let results need no gradient, whatever the arguments are."""

        def setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            ctx.mark_non_differentiable(*(output if isinstance(output, tuple) else (output,)))

        def backward(ctx: Any, *grads: Any) -> tuple[None, ...]:
            return (None,) * (len(self.inputs) + len(self.scalars))

        self._connect(setup, backward)

    def _connect(self, setup: Callable[..., None], backward: Callable[..., Any]) -> None:
        """Register a gradient with torch.library, and for torch.func, where that one does not count."""
        torch.library.register_autograd(self.qualname, backward, setup_context=setup, lib=_LIBRARY)
        parts = {"forward": self.overload, "setup_context": setup, "backward": backward, "vmap": self._vmap}
        methods = {name: staticmethod(part) for name, part in parts.items()}
        self._function = type(self.operator.name, (torch.autograd.Function,), methods)


# ---- What is derived from a description ------------------------------------------------------------------------------


def _scalar_names(operator: Operator) -> tuple[str, ...]:
    """Return a name for each scalar: of several with one name, their symbols."""
    names = [scalar.name for scalar in operator.scalars]
    return tuple(scalar.name if names.count(scalar.name) == 1 else scalar.symbol.lower() for scalar in operator.scalars)


def _native_types(operator: Operator) -> frozenset[torch.dtype]:
    """Return the floating types that the library computes in itself."""
    names = {DataType.FLOAT: torch.float32, DataType.HALF: torch.float16}
    allowed = [allowed_types(operator, tensor) for tensor in operator.tensors if is_floating(operator, tensor)]
    return frozenset(names[dtype] for dtype in (allowed[0] if allowed else ()) if dtype in names)


def _text(thing: object) -> str:
    return str(thing).removeprefix("torch.")


# ---- Tensors of torch_mlu --------------------------------------------------------------------------------------------

_handles = threading.local()


def _mlu_handle() -> Handle:
    """Return this thread's handle for the current queue of torch_mlu. Untested: there was no card to test it with."""
    torch_mlu: Any = torch
    queue = int(torch_mlu.mlu.current_stream().mlu_stream)
    handles: dict[int, Handle] = _handles.__dict__.setdefault("by_queue", {})
    if queue not in handles:
        handles[queue] = Handle(library.load("mlu"), queue=queue)
    return handles[queue]
