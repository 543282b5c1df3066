"""Functions that concern a Handle of Python, or that do not return a status; and what is noted after others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, cast

from pymluops import _case_writer, _core, errors
from pymluops._arguments import Caller, refusal, shown
from pymluops._core import Backend, Handle
from pymluops.enums import Status
from pymluops.functions import _numbers
from pymluops.functions._objects import NativeTensorDescriptor, SettingsObject
from pymluops.functions._plans import FFTPlan
from pymluops.functions._signature import Argument
from pymluops.functions._tensors import Description

__all__ = ["FUNCTIONS", "FinishedCall", "finished"]

#: Longest path that is asked for.
_LONGEST_PATH = 1 << 20


class CalledFunction(Protocol):
    """The names of a function and of its arguments."""

    name: str
    positional: tuple[str, ...]


class FinishedCall(Protocol):
    """A call that succeeded: its arguments by name, the values of its C parameters, and what it kept."""

    arguments: tuple[Argument, ...]
    given: dict[str, Any]
    values: dict[str, Any]
    descriptions: dict[str, Description | None]
    members: list[NativeTensorDescriptor]
    reserved: Any

    @property
    def function(self) -> CalledFunction: ...


def _create(function: Caller, backend: Any) -> Handle:
    return Handle(_library(function, backend))


def _destroy(function: Caller, handle: Handle | None) -> None:
    given = _core.require_handle(function, handle)
    _core.require_function(given.backend, function)
    given.close()


def _set_queue(function: Caller, queue: Any, handle: Handle | None) -> None:
    _core.set_handle_queue(_core.require_handle(function, handle), function, queue)


def _get_queue(function: Caller, handle: Handle | None) -> Any:
    given = _core.require_handle(function, handle)
    _core.require_function(given.backend, function)
    return given.queue


def _get_error_string(function: Caller, status: Any, backend: Any) -> str:
    number = _numbers.number(function, "status", "Status", status)
    library = _library(function, backend)
    # The enum is unsigned in C; a negative number is none of its values.
    return _text(library, library.lib.mluOpGetErrorString(int(number) & 0xFFFFFFFF))


def _get_lib_version(function: Caller, backend: Any) -> tuple[int, int, int]:
    library = _library(function, backend)
    numbers = [library.ffi.new("int *") for _ in range(3)]
    library.lib.mluOpGetLibVersion(*numbers)
    major, minor, patch = (int(number[0]) for number in numbers)
    return major, minor, patch


def _get_tensor_element_num(function: Caller, desc: Any, backend: Any) -> int:
    if not isinstance(desc, NativeTensorDescriptor):
        raise refusal(function, "desc", "a NativeTensorDescriptor", shown(desc))
    library = _library(function, desc.backend if backend is None and not desc.closed else backend)
    if not desc.closed and desc.backend is not library:
        raise refusal(function, "desc", f"one on {library.name}", shown(desc))
    return _core.count_elements(desc, library)


def _set_gen_case_mode(function: Caller, mode: Any, backend: Any) -> None:
    number = _numbers.number(function, "mode", "int32", mode)
    _library(function, backend).lib.mluOpSetGenCaseMode(number)
    if number:
        _case_writer.watch()


def _get_gen_case_directory(function: Caller, backend: Any) -> str:
    library = _library(function, backend)
    length, status = library.ffi.new("size_t *"), library.ffi.new("mluOpStatus_t *")
    room = 4096
    while True:
        buffer = library.ffi.new("char[]", room)
        found = library.lib.mluOpGetGenCaseDirectory(buffer, room, length, status)
        if status[0] != Status.BAD_PARAM or room >= _LONGEST_PATH:
            break
        room *= 16
    if status[0] != Status.SUCCESS or found == library.ffi.NULL:
        number = int(status[0]) or int(Status.NOT_SUPPORTED)
        raise errors.error_from_status(number, function.name, f"{function.name}: status {number} from {library.path}")
    return _text(library, found)


def _library(function: Caller, backend: Any) -> Backend:
    library = _core.require_backend(backend)
    _core.require_function(library, function)
    return library


def _text(library: Backend, text: Any) -> str:
    return "" if text == library.ffi.NULL else cast(bytes, library.ffi.string(text)).decode("utf-8", "surrogateescape")


#: What is called in place of a C function, with the arguments of its signature by name.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "mluOpCreate": _create,
    "mluOpDestroy": _destroy,
    "mluOpSetQueue": _set_queue,
    "mluOpGetQueue": _get_queue,
    "mluOpGetErrorString": _get_error_string,
    "mluOpGetLibVersion": _get_lib_version,
    "mluOpGetTensorElementNum": _get_tensor_element_num,
    "mluOpSetGenCaseMode": _set_gen_case_mode,
    "mluOpGetGenCaseDirectory": _get_gen_case_directory,
}


def finished(call: FinishedCall, result: Any) -> Any:
    """Note what a function that succeeded changed, and return its result."""
    name = call.function.name
    if name == "mluOpMakeFFTPlanMany":
        plan = cast(FFTPlan, call.values["fft_plan"])
        plan.reservespace_size, plan.workspace_size = result
        plan.reservespace = None  # the one of before may be too small
        described = call.descriptions["input"], call.descriptions["output"]
        plan.input_nbytes, plan.output_nbytes = (0 if one is None else one.nbytes for one in described)
    elif name == "mluOpSetFFTReserveArea":
        cast(FFTPlan, call.values["fft_plan"]).reservespace = call.reserved
    elif name == "mluOpDestroyGroupTensorDescriptors":
        for member in call.members:
            member.forget()
    elif name.startswith("mluOpSet"):
        _remember(call)
    return result


def _remember(call: FinishedCall) -> None:
    """Note the arguments of a function that set a descriptor."""
    target = call.values[call.arguments[0].name]
    if not isinstance(target, SettingsObject):
        return
    lists = {argument.name for argument in call.arguments if argument.role == "numbers"}
    given = [call.given[name] for name in call.function.positional[1:]]
    names = call.function.positional[1:]
    arguments = tuple(tuple(value) if name in lists else value for name, value in zip(names, given, strict=True))
    target.remember(call.function.name, call.given.get("attr"), arguments)
