"""How to make legal arguments of an operator, and how to make a call in Python and in C; all from its description.

`OPERATORS` leaves out an operator whose Python function takes other arguments than the description;
`IN_C` has all.
"""

from __future__ import annotations

import dataclasses
import inspect
from random import Random
from typing import Any

import numpy as np

import pymluops
from pymluops.ops._schema import Scalar
from pymluops.ops._schema import Tensor as TensorArgument
from support import described, families
from support.arrays import canary
from support.c_calls import SUCCESS, Descriptor, Raw, Tensor

#: How often a size of a random call is 0, and an index out of its range.
_ZEROS, _OUT_OF_RANGE = 0.04, 0.2


@dataclasses.dataclass(frozen=True)
class Operator:
    """How one operator is called."""

    name: str
    tensors: tuple[TensorArgument, ...]
    scalars: tuple[Scalar, ...]
    c_function: str
    workspace_function: str | None
    #: The C parameters, a pair of descriptor and data as one, and the tensors and scalars by their
    #: names.
    c_parameters: tuple[str, ...]
    by_parameter: dict[str, TensorArgument | Scalar]
    #: Those of the arrays that have no descriptor.
    bare: tuple[str, ...]
    #: Names of the outputs in Python.
    outputs: tuple[str, ...]
    #: Whether values of arrays are looked at unless ``validate=False`` is given.
    validates: bool

    @staticmethod
    def of(name: str) -> Operator:
        """Read the description."""
        known = families.OPERATORS[name]
        by_parameter: dict[str, TensorArgument | Scalar] = {t.parameter or t.name: t for t in known.tensors}
        by_parameter |= {scalar.c_name: scalar for scalar in known.scalars}
        parameters = [key for _, key in described.PARAMETERS[known.function][2]]
        taken = (*by_parameter, "workspace", "workspace_size")
        return Operator(
            name,
            known.tensors,
            known.scalars,
            known.function,
            known.workspace,
            tuple(key for key in parameters if key in taken),
            by_parameter,
            tuple(
                key
                for key, one in by_parameter.items()
                if isinstance(one, TensorArgument) and f"{key}_desc" not in parameters
            ),
            tuple(tensor.name for tensor in known.tensors if tensor.output),
            "validate" in inspect.signature(getattr(pymluops, name)).parameters,
        )

    def implemented(self, backend: str) -> bool:
        """Whether a library has it."""
        return pymluops.load(backend).implements(self.c_function)

    def legal(self, rng: Random) -> Call:
        """A random call. Those with empty tensors may be refused."""
        numbers = np.random.default_rng(rng.getrandbits(32))
        call = self.call(described.make(self.name, numbers, zeros=_ZEROS))
        for tensor in self.tensors:
            if tensor.within and self.validates and not tensor.library_looks and rng.random() < _OUT_OF_RANGE:
                _spoil(call.arrays[tensor.name], numbers)
        return call

    def call(self, made: described.Made) -> Call:
        """The call with arguments that were made for it."""
        given = {**made.arguments, **{key: canary(shape, dtype) for key, (shape, dtype) in made.outputs.items()}}
        scalars = described.scalar_values(families.OPERATORS[self.name], given)
        values = {
            scalar.c_name: value
            for scalar, value in zip(self.scalars, scalars, strict=True)
            if scalar.c_name in self.c_parameters
        }
        arrays = {tensor.name: given[tensor.name] for tensor in self.tensors}
        return Call(self.name, arrays, values, {key: dict(value) for key, value in made.settings.items()})


def _as_enumerator(function: str, parameter: str, value: Any) -> Any:
    """A number as cffi takes it: an enum has no negative ones."""
    kind = next(kind for kind, name in described.PARAMETERS[function][2] if name == parameter)
    return value & 0xFFFFFFFF if kind.startswith("mluOp") and isinstance(value, int) else value


def _spoil(indices: np.ndarray, rng: np.random.Generator) -> None:
    """Put numbers that are no index at some places."""
    places = rng.random(indices.shape) < 0.3
    indices[places] = rng.choice([-1, 2**31 - 1, -(2**31)], int(places.sum()))


@dataclasses.dataclass
class Call:
    """Arguments of one call: arrays by their Python names, the scalars of the C function by the names there."""

    operator: str
    arrays: dict[str, Any]
    numbers: dict[str, Any] = dataclasses.field(default_factory=dict)
    #: What descriptors with settings are set to, by the parameters of the functions that set them.
    settings: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)

    @property
    def description(self) -> Operator:
        return IN_C[self.operator]

    @property
    def outputs(self) -> tuple[str, ...]:
        return self.description.outputs

    def python(self, **changes: Any) -> Any:
        """Calls the Python function; ``changes`` go to its keyword arguments, for example ``out=None``."""
        keywords: dict[str, Any] = {"validate": False} if self.description.validates else {}
        for scalar in self.description.scalars:
            value = self.numbers[scalar.c_name] if scalar.c_name in self.numbers else self._size_of_output(scalar)
            # Several scalars of one name are the parts of a tuple.
            several = sum(other.name == scalar.name for other in self.description.scalars) > 1
            keywords[scalar.name] = (*keywords.get(scalar.name, ()), value) if several else value
        return getattr(pymluops, self.operator)(**{**keywords, **self.arrays, **changes})

    def keep_sizes(self) -> None:
        """Let calls of the Python function have the sizes that outputs have now, whatever replaces these."""
        for scalar in self.description.scalars:
            if scalar.c_name not in self.numbers:
                self.numbers[scalar.c_name] = self._size_of_output(scalar)

    def _size_of_output(self, scalar: Scalar) -> int:
        """A size that the C function takes from an output; 1 where that is refused for its rank anyway."""
        for tensor in self.description.tensors:
            terms = tensor.shape.split()
            if tensor.output and scalar.c_name in terms:
                axis, shape = terms.index(scalar.c_name), self.arrays[tensor.name].shape
                return int(shape[axis]) if axis < len(shape) else 1
        raise AssertionError(f"{self.operator}: {scalar.name} is the size of no output")

    def by_parameter(self) -> dict[str, Any]:
        """The arguments in the order of the C function and under the names there, without its workspace."""
        found: dict[str, Any] = {}
        for parameter in self.description.c_parameters:
            argument = self.description.by_parameter.get(parameter)
            if isinstance(argument, TensorArgument):
                found[parameter] = self.arrays[argument.name]
            elif argument is not None:
                found[parameter] = self.numbers[parameter]
        return found

    def c(self, raw: Raw) -> int:
        """Calls the C function, with a workspace as large as it asks for, and returns its status."""
        size, memory = 0, None
        if self.description.workspace_function is not None:
            status, size = self._workspace_size(raw)
            if status != SUCCESS:
                return status
            memory = np.empty(max(size, 1), np.uint8)
        given = self.by_parameter()
        arguments = []
        for parameter in self.description.c_parameters:
            argument = self.description.by_parameter.get(parameter)
            if parameter == "workspace":
                assert memory is not None
                arguments.append(raw.ffi.cast("void *", memory.ctypes.data) if size else raw.ffi.NULL)
            elif parameter == "workspace_size":
                arguments.append(size)
            elif isinstance(argument, TensorArgument):
                arguments.append(Tensor(given[parameter], int(argument.layout)))
            else:
                arguments.append(_as_enumerator(self.description.c_function, parameter, given[parameter]))
        return raw.status(self.description.c_function, *arguments)

    def _workspace_size(self, raw: Raw) -> tuple[int, int]:
        function = self.description.workspace_function
        assert function is not None
        size, arguments = raw.ffi.new("size_t *", 0), []
        for _, parameter in described.PARAMETERS[function][2]:
            tensor = self.description.by_parameter.get(parameter.removesuffix("_desc"))
            if isinstance(tensor, TensorArgument):
                array = self.arrays[tensor.name]
                arguments.append(Descriptor(array.shape, array.dtype.name, int(tensor.layout)))
            elif parameter in ("workspace_size", "size"):
                arguments.append(size)
            elif parameter in self.numbers:
                arguments.append(_as_enumerator(function, parameter, self.numbers[parameter]))
        return raw.status(function, *arguments), int(size[0])


#: The operators.
IN_C = {name: Operator.of(name) for name in families.OPERATORS}

#: Those whose Python function takes the arguments of the description, each array with a descriptor,
#: and whose C function takes no more than that.
OPERATORS = {
    name: IN_C[name]
    for name in described.describable()
    if not IN_C[name].bare and IN_C[name].c_function not in families.APART
}


def on(backend: str) -> list[str]:
    """The operators that a library has."""
    return [name for name, operator in OPERATORS.items() if operator.implemented(backend)]


def legal_call(operator: str, seed: int = 0) -> Call:
    """A call of the operator that succeeds and has no empty tensor."""
    rng = Random(seed)
    while True:
        call = IN_C[operator].legal(rng)
        if all(array.size for array in call.arrays.values()):
            return call
