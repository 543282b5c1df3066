"""A C function as a callable: binds Python arguments to C parameters by their roles, calls, and reads the results."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from typing import Any, cast

from pymluops import _core, errors
from pymluops._arguments import Names, refusal, shown
from pymluops._core import ArrayArgument, Backend, DeviceArray, Handle, NativeObject, SparseConvolutionDescriptor
from pymluops.enums import AdamWDescAttribute
from pymluops.functions import _numbers, _special
from pymluops.functions._classes import CLASSES
from pymluops.functions._objects import NativeTensorDescriptor
from pymluops.functions._plans import FFTPlan
from pymluops.functions._registry import FUNCTIONS
from pymluops.functions._signature import SIGNATURES, Argument, Signature
from pymluops.functions._tensors import Description, Tensor, bare_array, describe, read_array

__all__ = ["FUNCTIONS", "Function"]

#: Most dims that a function may write, more than any library has.
_MOST_DIMS = 64
#: Most tensor descriptors in a group: more would only be a way to run out of memory.
_MOST_MEMBERS = 1 << 20
#: Kind of the value of an attribute of an AdamW descriptor.
_ATTRIBUTE_KINDS = {
    AdamWDescAttribute.WEIGHT_DECAY: "float32",
    AdamWDescAttribute.GRAD_SCALE: "float32",
    AdamWDescAttribute.USE_NESTEROV: "bool",
    AdamWDescAttribute.NEED_REMOVE_NAN: "bool",
}


class Function:
    """One function of mlu_op.h.

    Parameters
    ----------
    signature : Signature
        Its description.
    """

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        self.name = self.function = self.__name__ = self.__qualname__ = signature.name
        self.__signature__ = signature.python
        self.__doc__ = signature.documentation
        self.__module__ = "pymluops.functions"
        self.positional = tuple(argument.name for argument in signature.given)
        self._defaults = dict.fromkeys(signature.keywords)
        self.special = _special.FUNCTIONS.get(self.name)
        # Numbers first: the sizes of arrays depend on them.
        order = sorted(signature.arguments, key=lambda argument: argument.role != "scalar")
        self.binders = [(argument, _BINDERS[argument.role]) for argument in order if argument.role in _BINDERS]
        self.results = signature.results
        self.counted_results = [a for a in signature.arguments if a.role == "result_numbers"]
        self.destroys = self.name.startswith("mluOpDestroy") and signature.arguments[0].role == "native"
        #: Whether it changes the objects that it is given.
        self.changes = self.name.startswith(("mluOpSet", "mluOpMake", "mluOpInit", "mluOpReset", "mluOpDestroy"))
        #: The descriptor that belongs to each array.
        self.descriptors = {a.detail: a.name for a in signature.arguments if a.role == "descriptor"}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.invoke(None, args, kwargs)

    def invoke(self, target: NativeObject | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call it; an object that it makes becomes `target` if that is given."""
        given = self.bind(args, kwargs)
        try:
            if self.special is not None:
                return self.special(self, **given)
            call = Call(self, given, target)
            try:
                return call.run()
            finally:
                call.release()
        except MemoryError as error:
            if isinstance(error, errors.MluOpError):
                raise
            raise errors.AllocFailedError(f"{self.name}: out of memory", function=self.name) from None

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments by name."""
        if len(args) == len(self.positional) and kwargs.keys() <= self._defaults.keys():  # the usual case, quickly
            return dict(zip(self.positional, args, strict=True)) | self._defaults | kwargs
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}() {error}") from None
        bound.apply_defaults()
        return bound.arguments

    def __repr__(self) -> str:
        return f"<pymluops.functions.{self.name}>"

    def __reduce__(self) -> str:
        return self.name


class Call:
    """One call: the values of its C parameters, and what must be released afterwards."""

    def __init__(self, function: Function, given: dict[str, Any], target: NativeObject | None) -> None:
        self.function, self.given, self.target = function, given, target
        self.arguments = function.signature.arguments
        self.held: list[ArrayArgument] = []
        self.objects: list[NativeObject] = []  # kept as they are until the end of the call
        self.values: dict[str, Any] = {}  # by C parameter
        self.shapes: dict[str, tuple[int, ...]] = {}  # of tensors, by name
        self.descriptions: dict[str, Description | None] = {}  # of tensors, by name without _desc
        self.also_used: list[DeviceArray | NativeObject] = []
        self.handle: Handle | None = None
        self.backend = self.find_backend()

    def release(self) -> None:
        """Let the arrays and the objects go."""
        for array in self.held:
            array.release()
        for thing in self.objects:
            _core.let_object_go(thing)

    def refusal(self, argument: str, expected: str, got: object) -> errors.BadParamError:
        """Return the error for a refused argument."""
        return refusal(self.function, argument, expected, shown(got))

    def find_backend(self) -> Backend:
        """Return the library of the handle, the one given, that of an object given, or the default."""
        if "handle" in self.given:
            self.handle = _core.require_handle(self.function, self.given["handle"])
            return self.handle.backend
        if self.given["backend"] is not None:
            return _core.require_backend(self.given["backend"])
        for argument in self.arguments:
            value = self.given.get(argument.name)
            if argument.role == "native" and isinstance(value, (NativeObject, SparseConvolutionDescriptor)):
                if value.closed:
                    self.native(argument, value)  # which refuses it
                return value.backend
            if argument.role == "group" and isinstance(value, (list, tuple)) and value:
                first = cast("Any", value)[0]
                if isinstance(first, NativeObject) and not first.closed:
                    return first.backend
        return _core.require_backend(None)

    # -- The call ----------------------------------------------------------------------------------

    def run(self) -> Any:
        """Bind the arguments, call the function, and return what comes back."""
        _core.require_function(self.backend, self.function)
        for argument, binder in self.function.binders:
            binder(self, argument)
        waiting = self.take_workspace()
        if self.function.destroys:
            self.values[self.arguments[0].name].close()
            return None
        if self.function.counted_results:
            self.ask_for_counts()
        values, used, changes = self.c_values(), tuple(self.also_used), self.function.changes
        _core.call_function(self.function, self.backend, self.handle, values, waiting, used, changes)
        return _special.finished(self, self.results())

    def c_values(self) -> tuple[Any, ...]:
        """Return the values in the order of the C parameters."""
        if self.handle is not None:
            self.values["handle"] = self.handle
        return tuple([self.values[argument.name] for argument in self.arguments])

    def ask_for_counts(self) -> None:
        """Make room for arrays of results; where only the function knows how many there are, it is asked first."""
        arrays = self.function.counted_results
        unknown = [argument for argument in arrays if argument.rule != "dimNb"]
        for argument in arrays:
            self.values[argument.name] = _numbers.room_for(argument.kind, _MOST_DIMS)
        if not unknown:
            return
        for value in tuple(self.values.values()):
            if isinstance(value, NativeObject):
                self.hold(value)  # between the two calls it must not get longer
        known = {argument.name: self.values[argument.name] for argument in self.arguments}
        for argument in self.arguments:
            if argument.role in ("result_numbers", "result_fill"):
                self.values[argument.name] = None
        _core.call_function(self.function, self.backend, self.handle, self.c_values(), False, tuple(self.also_used))
        self.values.update(known)
        for argument in unknown:
            self.values[argument.name] = _numbers.room_for(argument.kind, self.counted(argument))

    def counted(self, argument: Argument) -> int:
        """Return the result that counts an array of results."""
        counter = next(other for other in self.arguments if other.name == argument.rule)
        return int(_numbers.value_of(counter.kind, self.values[counter.name]))

    def results(self) -> Any:
        """Return what came back: nothing, a value, or a tuple."""
        found = [self.result(argument) for argument in self.function.results]
        return None if not found else found[0] if len(found) == 1 else tuple(found)

    def result(self, argument: Argument) -> Any:
        """Return one value that came back."""
        memory = self.values[argument.name]
        if argument.role == "result":
            return _numbers.value_of(argument.kind, memory)
        if argument.role == "result_numbers":
            return _numbers.value_of(argument.kind, memory, self.counted(argument))
        if argument.role == "result_fill":
            return _numbers.element_value(int(_numbers.value_of("DataType", self.values["dtype"])), memory)
        if argument.role == "result_group":
            addresses = struct.unpack(f"={len(self.cells) // 8}Q", self.cells)
            return tuple(self.adopted("mluOpTensorDescriptor_t", address, None) for address in addresses)
        address = struct.unpack("=Q", memory)[0]
        if argument.role == "result_address":
            return address
        return self.adopted(argument.detail, address, self.target)

    def adopted(self, c_type: str, address: int, target: NativeObject | None) -> NativeObject:
        """Return the Python object of one that the function made, or that belongs to one of its arguments."""
        made = CLASSES[c_type].unset() if target is None else target
        if not address:
            raise errors.InternalError(
                f"{self.function.name}: {self.backend.path} returned success and no object",
                function=self.function.name,
            )
        if self.function.name.startswith("mluOpCreate"):
            name = c_type.removeprefix("mluOp").removesuffix("_t")
            made.adopt(self.backend, address, f"mluOpDestroy{name}")
        else:
            owner = next(value for value in self.values.values() if isinstance(value, NativeObject))
            made.adopt(self.backend, address, None, owner)
        return made

    # -- Arguments by role -------------------------------------------------------------------------

    def scalar(self, argument: Argument) -> None:
        """Bind a number."""
        value = _numbers.number(self.function, argument.name, argument.kind, self.given[argument.name])
        self.values[argument.name] = value

    def numbers(self, argument: Argument) -> None:
        """Bind an array of numbers."""
        count = self.length(argument.rule)
        given = self.given[argument.name]
        self.values[argument.name] = _numbers.number_bytes(
            self.function, argument.name, argument.kind, given, count, argument.rule
        )

    def length(self, rule: str) -> int:
        """Return the number of values that a rule asks for; see native/abi/roles.py."""
        if rule.startswith("sum("):
            ranks = self.values[rule[4:-1]]
            return sum(struct.unpack(f"={len(ranks) // 4}i", ranks))
        tensor, _, axis = rule.partition(".shape")
        if axis:
            shape = self.shapes.get(tensor, ())
            return shape[int(axis[1:-1])] if shape else 0
        name, _, less = rule.partition("-")
        return int(self.values[name]) - int(less or 0)

    def array(self, argument: Argument) -> None:
        """Bind an array, and the descriptor that belongs to it."""
        given, name = self.given[argument.name], argument.name
        descriptor = self.function.descriptors.get(name)
        if given is None and argument.optional:
            self.values[name] = self.descriptions[name] = None
            if descriptor is not None:
                self.values[descriptor] = None
            return
        writes = argument.role == "output"
        if descriptor is None:
            self.values[name] = self.bare(argument, given, writes)
            return
        layouts = self.function.signature.layout
        tensor: Tensor = read_array(self.function, name, given, writes, self.backend, layouts, self.held)
        self.values[name], self.values[descriptor] = tensor.array, tensor.description.native
        self.shapes[name], self.descriptions[name] = tensor.description.shape, tensor.description

    def bare(self, argument: Argument, given: object, writes: bool) -> ArrayArgument:
        """Bind an array without a descriptor."""
        array = ArrayArgument(self.function, argument.name, given, writes, self.backend)
        self.held.append(array)
        if argument.rule.isdigit():
            count: int | None = int(argument.rule)
        else:
            like = self.values.get(argument.rule)
            count = like.nbytes // max(like.itemsize, 1) if isinstance(like, ArrayArgument) else None
        bare_array(self.function, argument.name, array, argument.kind, count)
        plan = self.given.get("fft_plan")
        if isinstance(plan, FFTPlan):
            least = plan.output_nbytes if writes else plan.input_nbytes
            if array.nbytes < least:
                raise self.refusal(argument.name, f"at least {least} bytes, as planned", array.nbytes)
        return array

    def describe(self, argument: Argument) -> None:
        """Bind a tensor descriptor without data."""
        given, name = self.given[argument.name], argument.name.removesuffix("_desc").removeprefix("desc_")
        if given is None and argument.optional:
            self.values[argument.name] = None
            return
        description = describe(self.function, argument.name, given, self.backend, self.function.signature.layout)
        self.values[argument.name], self.shapes[name] = description.native, description.shape
        self.descriptions[name] = description

    def native(self, argument: Argument, value: object = None) -> None:
        """Bind an object of the library."""
        given: object = self.given[argument.name] if value is None else value
        kind = CLASSES[argument.detail]
        other = argument.detail == "mluOpSparseConvolutionDescriptor_t"
        if not isinstance(given, kind) and not (other and isinstance(given, SparseConvolutionDescriptor)):
            expected = "SparseConvolutionDescriptor" if other else kind.__name__
            raise self.refusal(argument.name, f"a {expected}", given)
        found = cast(NativeObject, given)
        if found.closed:
            raise errors.NotInitializedError(
                f"{self.function.name}: {argument.name}: is closed", function=self.function.name
            )
        if found.backend is not self.backend:
            raise self.refusal(argument.name, f"one on {self.backend.name}", given)
        self.values[argument.name] = found
        if self.handle is not None:  # a call without one is over before anything else can happen
            self.hold(found)
            if isinstance(found, FFTPlan) and not self.function.changes:
                self.use_memory_of(argument, found)

    def hold(self, thing: NativeObject) -> None:
        """Keep an object as it is until the end of the call."""
        _core.hold_object(self.function, thing, self.function.changes)
        self.objects.append(thing)

    def use_memory_of(self, argument: Argument, plan: FFTPlan) -> None:
        """Keep the memory that a plan works on."""
        if plan.reservespace_size and plan.reservespace is None:
            raise self.refusal(argument.name, "a plan whose reserve area was set since it was made", plan)
        for memory in plan.memory_used:
            self.held.append(ArrayArgument(self.function, "reservespace", memory, True, self.backend))
            self.also_used.append(memory)

    def group(self, argument: Argument) -> None:
        """Bind tensor descriptors as pointers to the variables that hold them."""
        given: Any = self.given[argument.name]
        count = self.group_size()
        members: list[object] = list(given) if type(given) in (list, tuple) else []
        if type(given) not in (list, tuple) or len(members) != count:
            raise self.refusal(argument.name, f"a sequence of desc_num={count} NativeTensorDescriptor", given)
        seen: set[int] = set()
        for i, member in enumerate(members):
            if not isinstance(member, NativeTensorDescriptor) or id(member) in seen:
                raise self.refusal(f"{argument.name}[{i}]", "another NativeTensorDescriptor", member)
            seen.add(id(member))
            self.native(Argument("native", "", f"{argument.name}[{i}]", "mluOpTensorDescriptor_t", False), member)
            del self.values[f"{argument.name}[{i}]"]
        self.members = cast("list[NativeTensorDescriptor]", members)
        self.also_used.extend(self.members)
        self.set_cells(argument, struct.pack(f"={count}Q", *(member.c_address for member in self.members)))

    def result_group(self, argument: Argument) -> None:
        """Make the variables that receive tensor descriptors."""
        self.set_cells(argument, bytes(8 * max(self.group_size(), 0)))

    def group_size(self) -> int:
        """Return the number of tensor descriptors in a group."""
        count = int(self.values["desc_num"])
        if count > _MOST_MEMBERS:
            raise self.refusal("desc_num", f"at most {_MOST_MEMBERS}", count)
        return count

    def set_cells(self, argument: Argument, contents: bytes) -> None:
        """Bind an array of pointers to variables with these contents."""
        self.cells = bytearray(contents)
        first = _core.address_of(self.cells)
        count = len(contents) // 8
        self.values[argument.name] = struct.pack(f"={count}Q", *(first + 8 * i for i in range(count)))

    def room(self, argument: Argument) -> None:
        """Make the variable that receives a result."""
        self.values[argument.name] = _numbers.room_for(argument.kind if argument.role == "result" else "size")

    def result_fill(self, argument: Argument) -> None:
        """Make room for one element of any type."""
        self.values[argument.name] = bytearray(16)

    def fill(self, argument: Argument) -> None:
        """Bind one element of the type `dtype`."""
        given = self.given[argument.name]
        self.values[argument.name] = (
            None
            if given is None
            else _numbers.element_bytes(self.function, argument.name, int(self.values["dtype"]), given)
        )

    def attribute(self, argument: Argument) -> None:
        """Bind the value of an attribute of an AdamW descriptor, and its size."""
        kind = _ATTRIBUTE_KINDS[AdamWDescAttribute(self.values["attr"])]
        value = _numbers.number(self.function, argument.name, kind, self.given[argument.name])
        packed = struct.pack("=f" if kind == "float32" else "=?", value)
        self.values[argument.name], self.values["size_in_bytes"] = packed, len(packed)

    def text(self, argument: Argument) -> None:
        """Bind a path."""
        given: Any = self.given[argument.name]
        try:
            path = os.fsencode(given)
        except (TypeError, UnicodeEncodeError):
            raise self.refusal(argument.name, "a path", given) from None
        if b"\0" in path:
            raise self.refusal(argument.name, "a path without NUL", given)
        self.values[argument.name] = path

    # -- Memory that a function asks for -----------------------------------------------------------

    def take_workspace(self) -> bool:
        """Bind the workspace, and tell whether it goes with the end of the call, which then has to be waited for."""
        if "workspace" not in self.given:
            return False
        given, made = self.given["workspace"], False
        if given is None:
            size = self.workspace_size()
            if size and self.handle is not None:
                given, made = _core.new_workspace(self.function, self.handle, size), True
        array = None
        if given is not None:
            array = ArrayArgument(self.function, "workspace", given, True, self.backend)
            self.held.append(array)
            plan = self.given.get("fft_plan")  # a function with a plan is not told how large the workspace is
            if isinstance(plan, FFTPlan) and array.nbytes < plan.workspace_size:
                raise self.refusal("workspace", f"at least {plan.workspace_size} bytes, as planned", array.nbytes)
        self.values["workspace"] = array
        self.values["workspace_size"] = 0 if array is None else array.nbytes
        return made

    def workspace_size(self) -> int:
        """Ask how much memory the function needs."""
        plan = self.given.get("fft_plan")
        if isinstance(plan, FFTPlan):
            return plan.workspace_size
        known = self.function.signature.workspace
        name = next((name for name in known if self.backend.exports(name)), known[0])
        values: list[Any] = []
        size = _numbers.room_for("size")
        for argument in SIGNATURES[name].arguments:
            if argument.role == "handle":
                values.append(self.handle)
            elif argument.role == "describe":
                description = self.descriptions[argument.name.removesuffix("_desc").removeprefix("desc_")]
                values.append(None if description is None else description.native)
            else:
                values.append(size if argument.role == "result" else self.values[argument.name])
        _core.call_function(Names(self.function.name, name), self.backend, self.handle, tuple(values))
        return int(_numbers.value_of("size", size))

    def reservespace(self, argument: Argument) -> None:
        """Bind the memory of a plan, which the plan keeps."""
        plan = cast(FFTPlan, self.values["fft_plan"])
        given = self.given[argument.name]
        assert self.handle is not None
        if given is None:
            given = _core.new_workspace(self.function, self.handle, max(plan.reservespace_size, 1))
        array = ArrayArgument(self.function, argument.name, given, True, self.backend)
        self.held.append(array)
        if self.backend.on_device and not array.on_device:
            raise self.refusal(argument.name, f"an array on {self.backend.name}, because the plan keeps it", given)
        if array.nbytes < plan.reservespace_size:
            raise self.refusal(argument.name, f"at least {plan.reservespace_size} bytes", array.nbytes)
        self.values[argument.name], self.reserved = array, given


_BINDERS: dict[str, Callable[[Call, Argument], None]] = {
    "scalar": Call.scalar,
    "numbers": Call.numbers,
    "input": Call.array,
    "output": Call.array,
    "address": Call.array,
    "describe": Call.describe,
    "native": Call.native,
    "group": Call.group,
    "result_group": Call.result_group,
    "result": Call.room,
    "result_native": Call.room,
    "result_address": Call.room,
    "result_fill": Call.result_fill,
    "fill": Call.fill,
    "attribute": Call.attribute,
    "text": Call.text,
    "reservespace": Call.reservespace,
}


#: All functions by name, in the order of the header.
FUNCTIONS.update((name, Function(signature)) for name, signature in SIGNATURES.items())
