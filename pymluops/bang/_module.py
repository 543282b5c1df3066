"""Compiled sources: their kernels, launches, and host functions."""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pymluops._arguments import Names, is_integer, refusal, shown
from pymluops._core import ArrayArgument, Backend, Queue, call_compiled, launch_kernel
from pymluops._shown import one_line, shortened
from pymluops.bang._registry import FUNCTION, KERNEL, TEMPLATE, Entry, Signature, read_entries
from pymluops.bang._values import Converter, converter, result_of
from pymluops.errors import ArchMismatchError, BadParamError, BadParamTypeError
from pymluops.sim._devices import prefer_card
from pymluops.sim.toolchain import card_of

__all__ = ["HostFunction", "Kernel", "Launch", "Module"]

#: Kinds of launches, by name; the numbers are those of ``cnrtFunctionType_t``.
KINDS = {"block": 1, "union1": 4, "union2": 8, "union4": 16, "union8": 32, "union16": 64}
_INSTANCE = re.compile(r"^([\w:]+)\s*<(.*)>$|^([\w:<>, ]+::\w+)$", re.DOTALL)
_MOST_TASKS = 2**32 - 1


class Kernel:
    """A kernel of a `Module`. ``kernel[dim, kind, queue]`` is a `Launch`, which is called with the arguments.

    Attributes
    ----------
    name : str
        As in `Module.kernels`, or the instance of a template.
    signature : Signature
        Its parameters, as the source writes them.
    """

    def __init__(self, module: Module, entry: Entry) -> None:
        self.name = entry.signature.name
        self.signature = entry.signature
        self.module = module
        self._caller = Names(self.name, self.name)
        self._address = entry.address
        self._converters: tuple[Converter, ...] = tuple(
            converter(self._caller, parameter, c_type)
            for parameter, c_type in zip(entry.signature.parameters, entry.types, strict=True)
        )

    def __getitem__(self, launch: Any) -> Launch:
        """Choose how the kernel is launched.

        Parameters
        ----------
        launch : dim, or (dim, kind), or (dim, kind, queue)
            `dim`: the number of tasks, or up to three of them, for x, y and z. `kind`: ``"block"`` (the default),
            ``"union1"`` to ``"union16"``. `queue`: a `pymluops.Queue`; the default queue if it is not given or None.

        Returns
        -------
        Launch

        Raises
        ------
        BadParamError
            If one of them is anything else.
        """
        parts = launch if isinstance(launch, tuple) else (launch,)
        if not 1 <= len(parts) <= 3:
            raise refusal(self._caller, "launch", "[dim, kind, queue]", f"{len(parts)} of them")
        dim, kind, queue = (*parts, *("block", None)[len(parts) - 1 :])
        if queue is not None and not isinstance(queue, Queue):
            raise refusal(self._caller, "queue", "a Queue or None", shown(queue), wrong_type=True)
        return Launch(self, self._dim(dim), self._kind(kind), queue)

    def _dim(self, dim: Any) -> tuple[int, int, int]:
        numbers = (dim,) if is_integer(dim) else dim
        is_list = isinstance(numbers, (tuple, list)) and all(map(is_integer, numbers))
        if not is_list or not 1 <= len(numbers) <= 3 or not all(1 <= n <= _MOST_TASKS for n in numbers):
            expected = f"an integer or up to three, each from 1 to {_MOST_TASKS}"
            raise refusal(self._caller, "dim", expected, shown(dim), wrong_type=not is_list)
        x, y, z = (*map(int, numbers), *(1, 1)[len(numbers) - 1 :])
        return x, y, z

    def _kind(self, kind: Any) -> int:
        number = KINDS.get(kind.lower()) if isinstance(kind, str) else None
        if number is None:
            wrong_type = not isinstance(kind, str)
            raise refusal(self._caller, "kind", ", ".join(map(repr, KINDS)), shown(kind), wrong_type=wrong_type)
        return number

    def __repr__(self) -> str:
        return f"<pymluops.bang.Kernel {self.signature}>"


class Launch:
    """A kernel with the number of its tasks, the kind of the launch and its queue; call it with the arguments."""

    def __init__(self, kernel: Kernel, dim: tuple[int, int, int], kind: int, queue: Queue | None) -> None:
        self.kernel = kernel
        self.dim = dim
        self.kind = next(name for name, number in KINDS.items() if number == kind)
        self.queue = queue

    def __call__(self, *arguments: Any) -> None:
        """Launch the kernel.

        Arguments in host memory (NumPy arrays, PyTorch tensors, whatever DLPack or the buffer protocol offers) are
        copied to the device; the call then waits for the kernel, and copies back those for pointers that are not
        const. If all arrays are `pymluops.DeviceArray`, the call does not wait.

        Parameters
        ----------
        *arguments
            One for each parameter. For a pointer, a C-contiguous array of its element type, or None for a null
            pointer; for a number, one in the range of its type; for a structure, an object with as many bytes.

        Raises
        ------
        BadParamError
            If an argument does not fit the signature, or the device cannot run such a launch; nothing was launched.
        ArchMismatchError
            If the module was compiled for another architecture than that of the device that was chosen.
        ExecutionFailedError
            If the kernel failed and the call waited for it; else by the next wait for the queue. ``error.findings``
            tells what the simulator found.
        """
        kernel = self.kernel
        converters = kernel._converters
        if len(arguments) != len(converters):
            expected = f"{len(converters)} for {kernel.signature}"
            raise BadParamTypeError(f"{kernel.name}: arguments: expected {expected}, got {len(arguments)}")
        module = kernel.module
        module.require_card()
        values: list[Any] = []
        try:
            for convert, argument in zip(converters, arguments, strict=True):
                values.append(convert(argument, module.backend))
            queue, kind = self.queue, KINDS[self.kind]
            launch_kernel(kernel._caller, module.backend, queue, kernel._address, self.dim, kind, tuple(values))
        finally:
            release(values)

    def __repr__(self) -> str:
        return f"<pymluops.bang.Launch {self.kernel.name}[{self.dim}, {self.kind!r}]>"


class HostFunction:
    """A function of a `Module` that runs on the host; call it with its arguments.

    Attributes
    ----------
    name : str
        With its namespaces.
    signature : Signature
        Its parameters, as the source writes them.
    """

    def __init__(self, module: Module, entry: Entry) -> None:
        assert entry.result is not None
        self.name = entry.signature.name
        self.signature = entry.signature
        self.module = module
        self._caller = Names(self.name, self.name)
        self._address = entry.address
        self._result = entry.result
        self._converters = tuple(
            converter(self._caller, parameter, c_type, on_host=True)
            for parameter, c_type in zip(entry.signature.parameters, entry.types, strict=True)
        )

    def __call__(self, *arguments: Any) -> Any:
        """Call the function.

        Parameters
        ----------
        *arguments
            One for each parameter, as for a kernel; but an array in host memory stays there, and the function gets its
            address. For ``cnrtQueue_t`` a `pymluops.Queue`, or None; for ``const char *`` also a text.

        Returns
        -------
        int, float, bool, bytes or None
            What the function returns: of a pointer the address, of a structure its bytes.

        Raises
        ------
        BadParamError
            If an argument does not fit the signature.
        """
        if len(arguments) != len(self._converters):
            expected = f"{len(self._converters)} for {self.signature}"
            raise BadParamTypeError(f"{self.name}: arguments: expected {expected}, got {len(arguments)}")
        self.module.require_card()
        values: list[Any] = []
        memory = bytearray(max(self._result.size, 8))
        try:
            for convert, argument in zip(self._converters, arguments, strict=True):
                values.append(convert(argument, self.module.backend))
            call_compiled(self._caller, self.module.backend, self._address, memory, tuple(values))
        finally:
            release(values)
        return result_of(self._caller, self._result, memory)

    def __repr__(self) -> str:
        return f"<pymluops.bang.HostFunction {self.signature}>"


def release(values: Sequence[Any]) -> None:
    """Let go of the arrays of a call."""
    for value in values:
        if isinstance(value, ArrayArgument):
            value.release()


class Module:
    """Compiled sources; made by `compile`. They stay loaded until the process ends.

    Attributes
    ----------
    arch : int
        ``__BANG_ARCH__``.
    path : Path
        The shared library.
    backend : Backend
        The simulator that it runs on.
    kernels : mapping of str to Signature
        All kernels, templates among them, by their names with namespaces.
    functions : mapping of str to Signature
        The host functions.
    """

    def __init__(self, path: Path, arch: int, backend: Backend, instantiate: Callable[[str, str, str], Path]) -> None:
        self.path = path
        self.arch = arch
        self.backend = backend
        self._instantiate = instantiate
        self._lock = threading.Lock()
        self._entries = read_entries(ctypes.CDLL(str(path)))
        self._kernels: dict[str, Kernel] = {}
        self.kernels = self._signatures(KERNEL, TEMPLATE)
        self.functions = self._signatures(FUNCTION)
        prefer_card(backend, arch)

    def _signatures(self, *kinds: int) -> Mapping[str, Signature]:
        found = {entry.signature.name: entry.signature for entry in self._entries if entry.what in kinds}
        return MappingProxyType(found)

    def kernel(self, name: str) -> Kernel:
        """Return a kernel.

        Parameters
        ----------
        name : str
            One of `kernels`; of a template an instance, such as ``"add<float>"``, which is compiled when it is asked
            for first; or a static member function of a class, ``"Shape<4>::area"``.

        Raises
        ------
        BadParamError
            If there is no such kernel, or several have this name.
        CompileError
            If there is no such instance.
        """
        if not isinstance(name, str):
            raise BadParamTypeError(f"kernel: name: expected a text, got {shown(name)}")
        with self._lock:
            if name not in self._kernels:
                self._kernels[name] = Kernel(self, self._kernel_entry(name))
            return self._kernels[name]

    def function(self, name: str) -> HostFunction:
        """Return a host function.

        Parameters
        ----------
        name : str
            One of `functions`.

        Raises
        ------
        BadParamError
            If there is no such function, several have this name, or Python can make no value for a parameter.
        """
        return HostFunction(self, self._entry("function", name, FUNCTION))

    def require_card(self) -> None:
        """Raise `ArchMismatchError` if another card was chosen than this module was compiled for."""
        if not prefer_card(self.backend, self.arch):
            name = card_of(self.arch)["name"]
            raise ArchMismatchError(
                f"{self.path.name} was compiled for architecture {self.arch}, and another device was chosen: call "
                f'pymluops.sim.set_device("{name}"), or compile it with another arch'
            )

    def _entry(self, what: str, name: str, *kinds: int) -> Entry:
        found = [entry for entry in self._entries if entry.what in kinds and entry.signature.name == name]
        if len(found) == 1 and (found[0].address or found[0].what == TEMPLATE):
            return found[0]
        if found:
            problem = f"several are called so: {', '.join(str(entry.signature) for entry in found)}"
            if len(found) == 1:
                problem = f"{found[0].signature} has a parameter that Python has no value for"
            raise BadParamError(f"{what}: {shortened(one_line(name))}: {problem}")
        known = ", ".join(entry.signature.name for entry in self._entries if entry.what in kinds) or "none"
        raise BadParamError(f"{what}: name: expected one of {known}, got {shown(name)}")

    def _kernel_entry(self, name: str) -> Entry:
        instance = _INSTANCE.match(name)
        known = {entry.signature.name for entry in self._entries if entry.what in (KERNEL, TEMPLATE)}
        if name in known or instance is None:
            entry = self._entry("kernel", name, KERNEL, TEMPLATE)
            if entry.what != TEMPLATE:
                return entry
            raise BadParamError(
                f"kernel: {name} is a template ({entry.signature}): name an instance, such as {name}<float>"
            )
        parameters = "()"
        if instance[1] is not None:
            parameters = self._entry("kernel", instance[1].removeprefix("::"), TEMPLATE).written
        library = self._instantiate(name, f'kernel("{name}")', parameters)
        entries = read_entries(ctypes.CDLL(str(library)))
        entry = next(entry for entry in reversed(entries) if entry.what == KERNEL and entry.signature.name == name)
        if not entry.address:
            raise BadParamError(f"kernel: {name} has a parameter that Python has no value for")
        return entry

    def __repr__(self) -> str:
        return f"<pymluops.bang.Module {self.path.name}: {', '.join(self.kernels) or 'no kernels'}>"
