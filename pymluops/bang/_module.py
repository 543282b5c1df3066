"""Compiled sources: their kernels, launches, and host functions."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast

from numpy.typing import NDArray

from pymluops._arguments import Names, as_numbers, is_integer, refusal, shown
from pymluops._core import ArrayArgument, Backend, Queue, call_compiled, launch_kernel
from pymluops._shown import one_line, shortened
from pymluops.bang import _coverage
from pymluops.bang._build import Build, Input
from pymluops.bang._compilers import find_compiler
from pymluops.bang._registry import FUNCTION, KERNEL, TEMPLATE, Entry, Signature, read_entries
from pymluops.bang._sources import require_encodable
from pymluops.bang._values import Converter, array_of, converter, result_of
from pymluops.errors import ArchMismatchError, BadParamError, BadParamTypeError, ExecutionFailedError
from pymluops.sim._devices import prefer_card
from pymluops.sim._library import simulator
from pymluops.sim.profiler import Memory, memory_of
from pymluops.sim.toolchain import Simulator, card_of
from pymluops.sim.translator.text import quoted

__all__ = ["HostFunction", "Kernel", "Launch", "Module", "compile_sources"]

#: Kinds of launches, by name; the numbers are those of ``cnrtFunctionType_t``.
KINDS = {"block": 1, "union1": 4, "union2": 8, "union4": 16, "union8": 32, "union16": 64}
_INSTANCE = re.compile(r"^([\w:]+)\s*<(.*)>$|^([\w:<>, ]+::\w+)$", re.DOTALL)
#: What the simulator says of a kernel that was compiled for another device.
_OTHER_ARCH = "was compiled for architecture"
MOST_TASKS = 2**32 - 1


class _Callee(NamedTuple):
    """The data that a call needs."""

    module: Module
    caller: Names
    signature: Signature
    address: int
    converters: tuple[Converter, ...]

    def require_count(self, arguments: tuple[Any, ...]) -> None:
        if len(arguments) != len(self.converters):
            expected = f"{len(self.converters)} for {self.signature}"
            raise BadParamTypeError(f"{self.caller.name}: arguments: expected {expected}, got {len(arguments)}")


def _callee(module: Module, entry: Entry, *, on_host: bool) -> _Callee:
    caller = Names(entry.signature.name, entry.signature.name)
    converters = tuple(
        converter(caller, parameter, c_type, on_host=on_host)
        for parameter, c_type in zip(entry.signature.parameters, entry.types, strict=True)
    )
    return _Callee(module, caller, entry.signature, entry.address, converters)


class Kernel:
    """A kernel of a `Module`. ``kernel[dim, kind, queue]`` is a `Launch`, which is called with the arguments.

    Attributes
    ----------
    name : str
        As in `Module.kernels`, or the instance of a template.
    signature : Signature
        Its parameters, as the source writes them.
    """

    def __init__(self, module: Module, entry: Entry, library: Path) -> None:
        self.name = entry.signature.name
        self.signature = entry.signature
        self.module = module
        self._library = library
        self._callee = _callee(module, entry, on_host=False)

    def __getitem__(self, launch: Any) -> Launch:
        """Choose how the kernel is launched.

        Parameters
        ----------
        launch : dim, or (dim, kind), or (dim, kind, queue)
            `dim`: the number of tasks, or up to three of them, for x, y and z; integers alone are a
            dim.
            `kind`: ``"block"`` (the default), ``"union1"`` to ``"union16"``.
            `queue`: a `pymluops.Queue`; the default queue if it is not given or None.

        Returns
        -------
        Launch

        Raises
        ------
        BadParamError
            If one of them is anything else.
        """
        caller = self._callee.caller
        parts: list[Any] = list(cast("Sequence[Any]", launch)) if isinstance(launch, tuple) else [launch]
        if len(parts) > 1 and all(map(is_integer, parts)):  # kernel[4, 8] is kernel[(4, 8)]
            parts = [tuple(parts)]
        if not 1 <= len(parts) <= 3:
            raise refusal(caller, "launch", "[dim, kind, queue]", f"{len(parts)} of them")
        dim, kind, queue = (*parts, "block", None)[:3] if len(parts) == 1 else (*parts, None)[:3]
        return Launch(self, self._callee, _dim(caller, dim), _kind(caller, kind), _queue(caller, queue))

    def __reduce__(self) -> tuple[Any, ...]:
        return Module.kernel, (self.module, self.name)

    @property
    def memory(self) -> Memory:
        """The arrays in NRAM, WRAM and SRAM of its sources, against the memories of each card."""
        return memory_of(self.module.backend, self._library, has_one_kernel=self.module.has_one_kernel)

    def __repr__(self) -> str:
        return f"<pymluops.bang.Kernel {self.signature}>"


def _dim(caller: Names, dim: Any) -> tuple[int, int, int]:
    numbers = (int(dim),) if is_integer(dim) else as_numbers(dim)
    if numbers is None or not 1 <= len(numbers) <= 3 or not all(1 <= number <= MOST_TASKS for number in numbers):
        expected = f"an integer or up to three, each from 1 to {MOST_TASKS}"
        raise refusal(caller, "dim", expected, shown(dim), wrong_type=numbers is None)
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def _kind(caller: Names, kind: Any) -> str:
    if not isinstance(kind, str) or kind.lower() not in KINDS:
        expected = ", ".join(map(repr, KINDS))
        raise refusal(caller, "kind", expected, shown(kind), wrong_type=not isinstance(kind, str))
    return kind.lower()


def _queue(caller: Names, queue: object) -> Queue | None:
    if queue is not None and not isinstance(queue, Queue):
        raise refusal(caller, "queue", "a Queue or None", shown(queue), wrong_type=True)
    return queue


class Launch:
    """A kernel with the number of its tasks, the kind of the launch and its queue; call it with the arguments."""

    def __init__(
        self, kernel: Kernel, callee: _Callee, dim: tuple[int, int, int], kind: str, queue: Queue | None
    ) -> None:
        self.kernel = kernel
        self.dim = dim
        self.kind = kind
        self.queue = queue
        self._callee = callee

    def __call__(self, *arguments: Any) -> None:
        """Launch the kernel.

        Arguments in host memory (NumPy arrays, PyTorch tensors, any object with DLPack or the
        buffer protocol) are copied to the device; the call then waits for the kernel, and copies
        back those for pointers that are not const. If all arrays are `pymluops.DeviceArray`, the
        call does not wait.

        Parameters
        ----------
        *arguments
            One for each parameter. For a pointer, a C-contiguous array of its element type, or None
            for a null pointer; for a number, one in the range of its type; for a structure, an
            object with as many bytes.

        Raises
        ------
        BadParamError
            If an argument does not fit the signature, or the device cannot run such a launch;
            nothing was launched.
        ArchMismatchError
            If the module was compiled for another architecture than that of the device that was
            chosen.
        ExecutionFailedError
            If the kernel failed and the call waited for it; else by the next wait for the queue.
            ``error.findings`` holds the simulator's findings, ``error.outputs`` the contents of the
            arrays in host memory at that point.
        """
        callee = self._callee
        callee.require_count(arguments)
        module = callee.module
        module.require_card()
        values: list[Any] = []
        try:
            for convert, argument in zip(callee.converters, arguments, strict=True):
                values.append(convert(argument, module.backend))
            kind = KINDS[self.kind]
            launch_kernel(callee.caller, module.backend, self.queue, callee.address, self.dim, kind, tuple(values))
        except ExecutionFailedError as error:
            error.outputs = self._left(values, arguments)
            raise
        except BadParamError as error:
            # Another thread may have changed the device since it was asked for.
            if _OTHER_ARCH in error.detail:
                raise module.mismatch(error.detail) from None
            raise
        finally:
            release(values)

    def __reduce__(self) -> tuple[Any, ...]:
        return Kernel.__getitem__, (self.kernel, (self.dim, self.kind, self.queue))

    def convert(self, arguments: Sequence[Any]) -> list[Any]:
        """Return the arguments in the form for a kernel: bytes, `ArrayArgument` or None; `release` them."""
        self._callee.require_count(tuple(arguments))
        values: list[Any] = []
        try:
            for number, argument in enumerate(arguments):
                values.append(self.convert_one(number, argument))
        except BaseException:
            release(values)
            raise
        return values

    def convert_one(self, number: int, argument: Any) -> Any:
        """Return the argument of a number in the form for a kernel."""
        return self._callee.converters[number](argument, self._callee.module.backend)

    def in_queue(self, queue: Queue) -> Launch:
        """Return the same launch for another queue."""
        return Launch(self.kernel, self._callee, self.dim, self.kind, queue)

    def _left(self, values: Sequence[Any], arguments: Sequence[Any]) -> dict[str, NDArray[Any]]:
        return {
            parameter.name: array_of(value.left, value, given)
            for parameter, value, given in zip(self.kernel.signature.parameters, values, arguments, strict=False)
            if isinstance(value, ArrayArgument) and value.left is not None
        }

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
        self._result = entry.result
        self._callee = _callee(module, entry, on_host=True)

    def __call__(self, *arguments: Any) -> Any:
        """Call the function.

        Parameters
        ----------
        *arguments
            One for each parameter, as for a kernel; but an array in host memory stays there, and
            the function gets its address. For ``cnrtQueue_t`` a `pymluops.Queue`, or None; for
            ``const char *`` also a text.

        Returns
        -------
        int, float, bool, bytes or None
            The result of the function: of a pointer the address, of a structure its bytes.

        Raises
        ------
        BadParamError
            If an argument does not fit the signature.
        """
        callee = self._callee
        callee.require_count(arguments)
        backend = self.module.backend
        self.module.require_card()
        values: list[Any] = []
        memory = bytearray(max(self._result.size, 8))
        try:
            for convert, argument in zip(callee.converters, arguments, strict=True):
                values.append(convert(argument, backend))
            call_compiled(callee.caller, backend, callee.address, memory, tuple(values))
        finally:
            release(values)
        return result_of(callee.caller, self._result, memory)

    def __reduce__(self) -> tuple[Any, ...]:
        return Module.function, (self.module, self.name)

    def __repr__(self) -> str:
        return f"<pymluops.bang.HostFunction {self.signature}>"


def release(values: Sequence[Any]) -> None:
    """Let go of the arrays of a call."""
    for value in values:
        if isinstance(value, ArrayArgument):
            value.release()


class Module:
    """Compiled sources; made by `compile`. They stay loaded until the process ends.

    A pickle of a module, or of one of its kernels, has the text of the sources and how they are
    compiled; they are compiled again where it is read, unless the cache has them. Headers of
    `include_dirs` must be there.

    Attributes
    ----------
    arch : int
        ``__BANG_ARCH__``.
    path : Path
        The shared library: a file of this process, which is removed when it ends.
    backend : Backend
        The simulator that it runs on.
    kernels : mapping of str to Signature
        All kernels, templates among them, by their names with namespaces.
    functions : mapping of str to Signature
        The host functions.
    """

    def __init__(self, build: Build, inputs: Sequence[Input], backend: Backend) -> None:
        self.path = build.library(inputs)
        self.arch = build.arch
        self.backend = backend
        self._build = build
        self._inputs = tuple(inputs)
        self._lock = threading.Lock()
        self._entries = read_entries(self.path)
        self._kernels: dict[str, Kernel] = {}
        self.kernels = self._signatures(KERNEL, TEMPLATE)
        self.functions = self._signatures(FUNCTION)
        prefer_card(backend, self.arch)

    def _signatures(self, *kinds: int) -> Mapping[str, Signature]:
        found = {entry.signature.name: entry.signature for entry in self._entries if entry.definition in kinds}
        return MappingProxyType(found)

    if not TYPE_CHECKING:  # or type checkers would believe in every attribute

        def __getattr__(self, name: str) -> NoReturn:
            problem = f"{type(self).__name__!r} object has no attribute {name!r}"
            for what in ("kernel", "function"):
                if name in self.__dict__.get(f"{what}s", {}):
                    problem += f": the {what} is .{what}({name!r})"
            raise AttributeError(problem, name=name, obj=self)

    def kernel(self, name: str) -> Kernel:
        """Return a kernel.

        Parameters
        ----------
        name : str
            One of `kernels`; of a template an instance, such as ``"add<float>"``, which is compiled
            when it is asked for first; or a static member function of a class,
            ``"Shape<4>::area"``.

        Raises
        ------
        BadParamError
            If there is no such kernel, or several have this name.
        CompileError
            If there is no such instance.
        """
        with self._lock:
            known = self._kernels.get(name) if isinstance(cast("object", name), str) else None
            if known is None:
                known = self._kernels[name] = Kernel(self, *self._kernel_entry(name))
            return known

    def function(self, name: str) -> HostFunction:
        """Return a host function.

        Parameters
        ----------
        name : str
            One of `functions`.

        Raises
        ------
        BadParamError
            If there is no such function, several have this name, or Python can make no value for a
            parameter.
        """
        return HostFunction(self, self._entry("function", name, FUNCTION))

    @property
    def memory(self) -> Memory:
        """The arrays that the sources declare in NRAM, WRAM and SRAM, against the memories of each card."""
        return memory_of(self.backend, self.path, has_one_kernel=self.has_one_kernel)

    @property
    def has_one_kernel(self) -> bool:
        """Whether the sources have one kernel, which is no template."""
        return [entry.definition for entry in self._entries if entry.definition != FUNCTION] == [KERNEL]

    def require_card(self) -> None:
        """Raise `ArchMismatchError` if the device has another architecture, and cannot be changed."""
        reason = prefer_card(self.backend, self.arch)
        if reason:
            raise self.mismatch(reason)

    def mismatch(self, reason: str) -> ArchMismatchError:
        """Return the error for a device of another architecture; `reason` says why it is that one."""
        name = card_of(self.arch)["name"]
        return ArchMismatchError(
            f"{self.path.name} was compiled for architecture {self.arch}, and the device has another one "
            f'({reason}): call pymluops.sim.set_device("{name}"), or compile it with another arch'
        )

    def _entry(self, caller: str, name: str, *kinds: int) -> Entry:
        if not isinstance(cast("object", name), str):
            raise BadParamTypeError(f"{caller}: name: expected a text, got {shown(name)}")
        found = [entry for entry in self._entries if entry.definition in kinds and entry.signature.name == name]
        if len(found) == 1 and (found[0].address or found[0].definition == TEMPLATE):
            return found[0]
        if found:
            problem = f"several are called so: {', '.join(str(entry.signature) for entry in found)}"
            if len(found) == 1:
                problem = f"{found[0].signature} has a parameter that Python has no value for"
            raise BadParamError(f"{caller}: {shortened(one_line(name))}: {problem}")
        known = ", ".join(entry.signature.name for entry in self._entries if entry.definition in kinds) or "none"
        raise BadParamError(f"{caller}: name: expected one of {known}, got {shown(name)}")

    def _kernel_entry(self, name: str) -> tuple[Entry, Path]:
        instance = _INSTANCE.match(name) if isinstance(cast("object", name), str) else None
        known = {entry.signature.name for entry in self._entries if entry.definition in (KERNEL, TEMPLATE)}
        if name in known or instance is None:
            entry = self._entry("kernel", name, KERNEL, TEMPLATE)
            if entry.definition != TEMPLATE:
                return entry, self.path
            raise BadParamError(
                f"kernel: {name} is a template ({entry.signature}): name an instance, such as {name}<float>"
            )
        parameters = "()"
        if instance[1] is not None:
            parameters = self._entry("kernel", instance[1].removeprefix("::"), TEMPLATE).written
        library = self._instance(name, parameters)
        entries = read_entries(library)
        entry = next(
            entry for entry in reversed(entries) if entry.definition == KERNEL and entry.signature.name == name
        )
        if not entry.address:
            raise BadParamError(f"kernel: {name} has a parameter that Python has no value for")
        return entry, library

    def _instance(self, name: str, parameters: str) -> Path:
        """Return the library of an instance of a template."""
        require_encodable("kernel: name", name, lines=False)
        entry = f"MLUOPS_MODULE_INSTANCE({quoted(name)}, {quoted(parameters)}, ::{name.removeprefix('::')});"
        return self._build.library(self._inputs, f'kernel("{name}")', entry)

    def __reduce__(self) -> tuple[Any, ...]:
        build = self._build
        return compile_sources, (self._inputs, build.arch, tuple(build.include_dirs), tuple(build.options))

    def __copy__(self) -> Module:
        return self

    def __deepcopy__(self, memo: object) -> Module:
        return self

    def __repr__(self) -> str:
        return f"<pymluops.bang.Module {self.path.name}: {', '.join(self.kernels) or 'no kernels'}>"


def compile_sources(inputs: Sequence[Input], arch: int, include_dirs: Sequence[Path], options: Sequence[str]) -> Module:
    """Compile sources for the simulator of this process, with its compiler; a pickle of a module calls this too.

    Parameters
    ----------
    inputs : sequence of Input
        The sources.
    arch : int
        ``__BANG_ARCH__``.
    include_dirs : sequence of Path
        Where headers are looked for.
    options : sequence of str
        Further options of the compiler, macros among them.
    """
    backend, compiler = simulator(), find_compiler()
    counted = _coverage.folder(compiler)
    return Module(Build(compiler, arch, Simulator.installed(), include_dirs, options, counted), inputs, backend)
