"""Operators of the library as operators of torch.

`TorchOperator` registers one `pymluops._core.Operator` with torch.library. Its schema, what a fake
call returns, how vmap folds a dim into the batch: all is derived from the operator's description.
`differentiate` connects it with the operator that computes its gradient, by the names of their
arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NoReturn

import torch

from pymluops import _arguments
from pymluops._core import Handle, Operator, TensorCall
from pymluops._torch_threads import thread_follower
from pymluops.enums import DataType
from pymluops.errors import BadParamError
from pymluops.ops._double import double_of, is_floating
from pymluops.torch._descriptions import DATA_TYPES, native_types, scalar_names, shown, whole_type
from pymluops.torch._gradients import connect_gradient, in_forward_mode
from pymluops.torch._mlu import mlu_handle
from pymluops.torch._numbers import flag
from pymluops.torch._samples import fold, one_by_one, unfold
from pymluops.torch._shapes import are_known, match, read_shape, shape_of

__all__ = ["NAMESPACE", "REGISTERED", "TorchOperator", "follow_threads"]

NAMESPACE = "pymluops"
_LIBRARY = torch.library.Library(NAMESPACE, "FRAGMENT")

#: The operators that are derived from a description, by name without the namespace.
REGISTERED: dict[str, TorchOperator] = {}

# ---- Calls that need nothing of torch's dispatcher -----------------------------------------------

follow_threads = thread_follower()

_state: Any = torch._C
_compiling = torch.compiler.is_compiling
_tracing = _state._get_tracing_state
#: What they return is true if something watches, transforms or casts calls now.
_WATCHERS = (
    _state._len_torch_dispatch_stack,
    _state._is_torch_function_mode_enabled,
    _state._functorch.peek_interpreter_stack,
    _state._is_any_autocast_enabled,
    _tracing,
    in_forward_mode,
)


# ---- Operators -----------------------------------------------------------------------------------


class TorchOperator:
    """An operator of the library, registered with torch as ``pymluops::name``.

    Parameters
    ----------
    operator : Operator
        Its inputs and scalars are the arguments, its outputs the results. Arrays that are optional
        must be given here.
    name : str, optional
        Name in torch; that of `operator` if not given.
    validate : bool
        Indices are looked at before anything is computed.
    autocast : bool
        Under autocast, floating arguments are cast to float32.
    folds : bool
        Rows of arrays with the same first dim are independent, so vmap makes one call with more of
        them; else it makes a call for each sample.
    on_mlu : Operator, optional
        What computes tensors of a card, if `operator` is of this project's own functions.
    sample : mapping of str to object, optional
        Values for examples of arguments: sizes by symbol, numbers by name, contents of tensors that
        belong together. Tests draw the rest. Without it an operator that computes a gradient takes
        those of the operator it serves.

    Attributes
    ----------
    operator : Operator
    qualname : str
        The name with its namespace.
    gradients : tuple of int or None
        Which inputs have a gradient; None if asking for one is refused.
    linear : tuple of int
        Which inputs the operator is linear in.
    gradient : TorchOperator or None
        What computes the gradient.
    exact : bool
        The gradient is that of what is computed.
    """

    def __init__(
        self,
        operator: Operator,
        name: str = "",
        *,
        validate: bool = False,
        autocast: bool = True,
        folds: bool = True,
        on_mlu: Operator | None = None,
        sample: Mapping[str, Any] | None = None,
    ) -> None:
        self.operator = operator
        self.qualname = f"{NAMESPACE}::{name or operator.name}"
        self.inputs = tuple(tensor for tensor in operator.tensors if not tensor.output)
        self.outputs = tuple(tensor for tensor in operator.tensors if tensor.output)
        assert not any(tensor.in_place for tensor in operator.tensors), operator.name
        self.scalars = scalar_names(operator)
        self._symbols = tuple(scalar.symbol or scalar.name for scalar in operator.scalars)
        self._shapes = {tensor.name: read_shape(tensor.shape) for tensor in operator.tensors}
        self._kinds = {tensor.name: is_floating(operator, tensor) for tensor in operator.tensors}
        self._floating = [i for i, tensor in enumerate(self.inputs) if self._kinds[tensor.name]]
        self._others = [whole_type(of.dtype) for of in self.inputs]
        self._native = native_types(operator)
        self._double: Operator | None = None
        self._gradient_of = ""  # the input that is a gradient: where it is empty, results are zeros
        self.gradients: tuple[int, ...] | None = None
        self.linear: tuple[int, ...] = ()
        self.gradient: TorchOperator | None = None
        self.exact, self.autocast, self.sample = True, autocast, dict(sample or {})
        self._connected = False
        self._validate, self._folds, self._on_mlu = validate, folds, on_mlu
        self._missing, self._direct = (None,) * len(self.outputs), self.direct()
        self._register(name or operator.name)
        REGISTERED[name or operator.name] = self

    def _register(self, name: str) -> None:
        torch.library.define(self.qualname, self._schema(), lib=_LIBRARY, tags=torch.Tag.pt2_compliant_tag)
        torch.library.impl(self.qualname, "CPU", self._compute, lib=_LIBRARY)
        torch.library.impl(self.qualname, "PrivateUse1", self._compute_on_mlu, lib=_LIBRARY)
        torch.library.register_fake(self.qualname, self._fake, lib=_LIBRARY)
        torch.library.register_vmap(self.qualname, self._vmap, lib=_LIBRARY)
        if self.autocast:
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
        found = None if _compiling() else self._direct(*arguments)
        return self.through_torch(*arguments) if found is None else found

    def through_torch(self, *arguments: Any) -> Any:
        """Call it by torch's dispatcher."""
        if _compiling():
            return self.overload(*arguments)
        count = len(self.inputs)
        return self.overload(*arguments[:count], *map(self._scalar, range(len(self.scalars)), arguments[count:]))

    def _scalar(self, i: int, value: Any) -> Any:
        """Return a scalar as torch takes it: what NumPy and tensors have as numbers too."""
        scalar, kind = self.operator.scalars[i], self.operator.scalar_types[i]
        if kind == "bool":
            return flag(self.operator.name, scalar.name, value)
        if type(value) is int or isinstance(value, (torch.SymInt, torch.SymFloat)):
            return value
        if isinstance(value, torch.Tensor) and _tracing() is not None:  # a size, to torch.jit.trace
            return value
        if kind == "float":
            return _arguments.real(self.operator, scalar.name, value)
        least = 1 if scalar.minimum is None else int(scalar.minimum)
        most = _arguments.INT32_MAX if scalar.maximum is None else int(scalar.maximum)
        return _arguments.integer(self.operator, scalar.name, value, least, most)

    def direct(
        self,
        orders: Mapping[str, tuple[int, ...]] | None = None,
        shapes: Mapping[str, str | None] | None = None,
        roots: tuple[str, ...] = (),
        otherwise: Callable[..., Any] | None = None,
    ) -> TensorCall:
        """Return the direct way to the library, for tensors of another layout too; see `TensorCall`."""
        given = self.operator, _WATCHERS, follow_threads, self._validate
        return TensorCall(*given, orders=orders, shapes=shapes, roots=roots, otherwise=otherwise)

    # -- Computing ---------------------------------------------------------------------------------

    def _compute(self, *arguments: Any) -> Any:
        follow_threads()
        return self._run(None, arguments)

    def _compute_on_mlu(self, *arguments: Any) -> Any:
        return self._run(mlu_handle(), arguments)

    def _run(self, handle: Handle | None, arguments: tuple[Any, ...]) -> Any:
        tensors, scalars = arguments[: len(self.inputs)], arguments[len(self.inputs) :]
        given = self._floating_dtype(tensors)
        operator, used = self._operator_for(given)
        if handle is not None and self._on_mlu is not None:
            operator = self._on_mlu
        empty = self._empty_shapes(operator, used, arguments)
        if empty is not None:
            return self._made(tensors, empty, torch.Tensor.new_zeros)
        ready = [self._prepared(i, tensor, used) for i, tensor in enumerate(tensors)]
        results = operator(handle, (*ready, *self._missing), scalars, self._validate)
        if used == given:
            return results
        results = results if len(self.outputs) > 1 else (results,)
        made: Any = tuple(result.to(given) if result.is_floating_point() else result for result in results)
        return made if len(made) > 1 else made[0]

    def _operator_for(self, given: torch.dtype | None) -> tuple[Operator, torch.dtype | None]:
        """Return the operator that computes arguments of a type, and the type in which it does."""
        if given == torch.float64:
            self._double = self._double or double_of(self.operator)
            return self._double, given
        return self.operator, given if given is None or given in self._native else torch.float32

    def _floating_dtype(self, tensors: Sequence[torch.Tensor]) -> torch.dtype | None:
        """Return the one type of the floating arguments, and refuse other types of all arguments."""
        dtypes = [tensors[i].dtype for i in self._floating]
        for i, dtype in zip(self._floating, dtypes, strict=True):
            if dtype not in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
                raise self._refusal(i, "dtype float32, float16, bfloat16 or float64", dtype)
            if dtype != dtypes[0]:
                first = self.inputs[self._floating[0]].name
                raise self._refusal(i, f"dtype {shown(dtypes[0])} like {first}", dtype)
        for i, tensor in enumerate(tensors):
            allowed = (torch.bool,) if self._others[i] is DataType.BOOL else (torch.int32, torch.int64)
            if i not in self._floating and tensor.dtype not in allowed:
                raise self._refusal(i, f"dtype {' or '.join(map(shown, allowed))}", tensor.dtype)
        return dtypes[0] if dtypes else None

    def _refusal(self, i: int, expected: str, got: object) -> BadParamError:
        text = f"{self.operator.name}: {self.inputs[i].name}: expected {expected}, got {shown(got)}"
        return BadParamError(text, function=self.operator.function)

    def _prepared(self, i: int, tensor: torch.Tensor, dtype: torch.dtype | None) -> torch.Tensor:
        """Return an argument in the type that the library computes in, contiguous."""
        if i not in self._floating and self._others[i] is DataType.INT64:
            return tensor.to(torch.int64).contiguous()
        if i not in self._floating and tensor.dtype == torch.int64:
            narrow = tensor.to(torch.int32)
            if not torch.equal(narrow.to(torch.int64), tensor):
                raise self._refusal(i, "values that int32 can hold", "larger ones")
            return narrow.contiguous()
        return (tensor.to(dtype) if i in self._floating else tensor).detach().contiguous()

    # -- Without values ----------------------------------------------------------------------------

    def _shapes_of(
        self, operator: Operator, used: torch.dtype | None, arguments: Sequence[Any], empty: bool = False
    ) -> list[Any]:
        """Let the library's own checks look at sizes and scalars, and return the shapes of the results."""
        count = len(self.inputs)
        real = DATA_TYPES.get(used, DataType.FLOAT)
        types = tuple(real if i in self._floating else self._others[i] for i in range(count))
        shapes = tuple(tuple(tensor.shape) for tensor in arguments[:count])
        return operator.shapes(types, shapes, tuple(arguments[count:]), empty)

    def _empty_shapes(self, operator: Operator, used: torch.dtype | None, arguments: Sequence[Any]) -> list[Any] | None:
        """Return the shapes of the results where there is nothing to compute, which the library refuses, or None."""
        sizes = [tensor.numel() for tensor in arguments[: len(self.inputs)]]
        if all(sizes):
            return None
        shapes = self._shapes_of(operator, used, arguments, True)
        nothing_flows = any(
            not size and of.name == self._gradient_of for size, of in zip(sizes, self.inputs, strict=True)
        )
        return shapes if nothing_flows or all(0 in shape for shape in shapes) else None

    def symbols(self, arguments: Sequence[Any]) -> dict[str, Any]:
        """Return the values of the symbols of a call, and those of its scalars under their names."""
        values: dict[str, Any] = dict(zip(self._symbols, arguments[len(self.inputs) :], strict=True))
        for tensor, of in zip(arguments, self.inputs, strict=False):
            match(f"{self.operator.name}: {of.name}", tensor.shape, self._shapes[of.name], values)
        return values

    def _result_shapes(self, given: torch.dtype | None, arguments: Sequence[Any]) -> list[Any]:
        """Return the shapes of the results of a call, or refuse it as the library would."""
        if not are_known(arguments):
            values = self.symbols(arguments)
            return [shape_of(self._shapes[tensor.name], values) for tensor in self.outputs]
        operator, used = self._operator_for(given)
        empty = self._empty_shapes(operator, used, arguments)
        if empty is not None:
            return empty
        return self._shapes_of(operator, used, arguments)

    def _made(self, tensors: Sequence[torch.Tensor], shapes: Sequence[Any], make: Callable[..., Any]) -> Any:
        like = tensors[self._floating[0]] if self._floating else tensors[0]
        made = [
            make(like, shape, dtype=like.dtype if self._kinds[of.name] else torch.int32)
            for shape, of in zip(shapes, self.outputs, strict=True)
        ]
        return made[0] if len(made) == 1 else tuple(made)

    def _fake(self, *arguments: Any) -> Any:
        tensors = arguments[: len(self.inputs)]
        for i, tensor in enumerate(tensors):
            if tensor.device.type != tensors[0].device.type:
                raise self._refusal(i, f"a tensor on {tensors[0].device}, like {self.inputs[0].name}", tensor.device)
        shapes = self._result_shapes(self._floating_dtype(tensors), arguments)
        return self._made(tensors, shapes, torch.Tensor.new_empty)

    def _vmap(self, info: Any, in_dims: tuple[int | None, ...], *arguments: Any) -> Any:
        """Fold the mapped dim into the batch, which the first dim of most arrays is."""
        if not self._folds or info.batch_size == 0:  # a fold of nothing does not show how many rows a sample has
            return one_by_one(self.overload, info.batch_size, in_dims, arguments)
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
            folded.append(fold(argument, in_dims[i], info.batch_size))
        first = next(i for i, of in enumerate(self.inputs) if self._shapes[of.name][0].symbol == batch)
        return unfold(self.overload(*folded), info.batch_size, folded[first].shape[0])

    # -- Gradients ---------------------------------------------------------------------------------

    def differentiate(
        self,
        by: TorchOperator,
        given: str,
        of: Mapping[str, str],
        change: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] | None = None,
        *,
        more: Sequence[tuple[TorchOperator, Mapping[str, str]]] = (),
        numbers: Mapping[str, Any] | None = None,
        linear: Collection[str] = (),
        exact: bool = True,
    ) -> None:
        """Let another operator compute the gradient of this one.

        Its other arguments are found by their names: inputs, outputs, scalars or symbols of this
        operator; an output also by the name of its C parameter.

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
        more : sequence of (TorchOperator, mapping of str to str)
            Operators that compute the gradients of further inputs, as `by` and `of`. Each is called
            only if one of its gradients is asked for.
        numbers : mapping of str to object, optional
            Scalars of `by` that this operator does not have.
        linear : collection of str
            The inputs that this operator is linear in, the others being what they are: those which
            forward mode can differentiate with respect to.
        exact : bool
            Whether it is the gradient of what is computed, which that of mmcv may not be.
        """
        parts = [_Part(self, one, given, results) for one, results in ((by, of), *more)]
        names = [tensor.name for tensor in self.inputs]
        made = [(tensor.name, tensor.parameter) for tensor in self.outputs]
        kept = sorted({name for part in parts for name in part.kept})
        places = [i for part in parts for i in part.places]
        self.gradients, self.linear = tuple(places), tuple(names.index(name) for name in linear)
        self.gradient, self.exact = by, exact

        def setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            outputs = output if isinstance(output, tuple) else (output,)
            ctx.mark_non_differentiable(*(result for result in outputs if not result.is_floating_point()))
            found = {key: result for keys, result in zip(made, outputs, strict=True) for key in keys if key} | dict(
                zip(names, inputs, strict=False)
            )
            ctx.save_for_backward(*(found[name] for name in kept))
            values = {**(numbers or {}), **dict(zip(self.scalars, inputs[len(names) :], strict=True))}
            if not all(set(part.by.scalars) <= set(values) for part in parts):
                values |= self.symbols(inputs)
            ctx.numbers = [part.numbers(values) for part in parts]

        def backward(ctx: Any, grad: torch.Tensor | None, *_: Any) -> Any:
            results: list[Any] = [None] * (len(names) + len(self.scalars))
            if grad is None:
                return tuple(results)
            saved = dict(zip(kept, ctx.saved_tensors, strict=True)) | {given: grad}
            for name, function in (change or {}).items():
                saved[name] = function(saved[name])
            for part, numbers in zip(parts, ctx.numbers, strict=True):
                wanted = [i for i in part.places if ctx.needs_input_grad[i]]
                if not wanted:
                    continue
                found = part.by(*(saved[tensor.name] for tensor in part.by.inputs), *numbers)
                for i in wanted:
                    results[i] = found[part.places[i]] if isinstance(found, tuple) else found
            return tuple(results)

        def jvp(ctx: Any, *tangents: Any) -> Any:
            total: Any = None
            for i in places:  # as in a backward pass, the other inputs count as constants
                if tangents[i] is None:
                    continue
                if i not in self.linear:
                    raise NotImplementedError(
                        f"{self.qualname}: there is no forward-mode derivative with respect to {names[i]}; take "
                        "reverse mode, such as backward(), torch.func.vjp or jacrev"
                    )
                tensors = [*ctx.saved_tensors[:i], tangents[i], *ctx.saved_tensors[i + 1 :]]
                part = self(*tensors, *ctx.scalars)
                total = part if total is None else total + part
            return self._still(ctx) if total is None else total

        self._connect(setup, backward, jvp)

    def refuse_gradient(self, reason: str) -> None:
        """Let a gradient of this operator be refused with one sentence."""

        def refuse(ctx: Any, *grads: Any) -> NoReturn:
            raise NotImplementedError(f"{self.qualname}: {reason}")

        self._connect(lambda ctx, inputs, output: None, refuse, refuse)

    def without_gradient(self) -> None:
        """Let results need no gradient, whatever the arguments are."""
        self.gradients = ()

        def setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            ctx.mark_non_differentiable(*(output if isinstance(output, tuple) else (output,)))

        def backward(ctx: Any, *grads: Any) -> tuple[None, ...]:
            return (None,) * (len(self.inputs) + len(self.scalars))

        def jvp(ctx: Any, *tangents: Any) -> Any:
            return (None,) * len(self.outputs) if len(self.outputs) > 1 else None

        self._connect(setup, backward, jvp)

    def _still(self, ctx: Any) -> Any:
        """Return the tangents of results that do not change: zeros, but none for integers."""
        results = self(*ctx.saved_tensors, *ctx.scalars)
        each = results if isinstance(results, tuple) else (results,)
        made = tuple(torch.zeros_like(one) if one.is_floating_point() else None for one in each)
        return made if isinstance(results, tuple) else made[0]

    def _connect(self, setup: Callable[..., None], backward: Callable[..., Any], jvp: Callable[..., Any]) -> None:
        self._connected = True
        autocast = self._as_autocast if self.autocast else None
        connect_gradient(
            _LIBRARY, self.overload, setup=setup, backward=backward, jvp=jvp, vmap=self._vmap, autocast=autocast
        )

    def _as_autocast(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        low = (torch.float16, torch.bfloat16)
        return tuple(one.float() if isinstance(one, torch.Tensor) and one.dtype in low else one for one in arguments)


class _Part:
    """An operator that computes gradients of another one: which, and what it takes for that."""

    def __init__(self, of: TorchOperator, by: TorchOperator, given: str, results: Mapping[str, str]) -> None:
        if not by._connected:  # else `by` is the forward direction, and `of` the gradient
            by._gradient_of = given
        by.sample = by.sample or of.sample
        names, outputs = [tensor.name for tensor in of.inputs], [tensor.name for tensor in by.outputs]
        self.by = by
        self.kept = [tensor.name for tensor in by.inputs if tensor.name != given]
        self.places = {names.index(name): outputs.index(result) for name, result in results.items()}

    def numbers(self, values: Mapping[str, Any]) -> list[Any]:
        """Return its scalars, from the scalars and symbols of the other one."""
        return [
            values[name if name in values else symbol]
            for name, symbol in zip(self.by.scalars, self.by._symbols, strict=True)
        ]
