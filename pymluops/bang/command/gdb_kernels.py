"""Loaded by gdb: shows values of BANG C, arrays on chip by their names, and which core runs.

``$buffer`` is the array ``buffer`` that a source declares ``__nram__``, ``__wram__`` or
``__mlu_shared__`` at file scope, in the memory of the core that runs; ``mlu`` prints which core
that is, and names these arrays. ``mlu-break PLACE if CONDITION`` is a breakpoint that stops where
its condition cannot be told. ``bt`` shows the functions of the kernel first, and leaves out what
called it; ``bt -no-filters`` shows all.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import Any

import gdb
import gdb.printing

_ARRAY = "mlusim_array_"  # see mlusim_source.h


class Bfloat16:
    """Shows a bfloat16 as the number that it is."""

    def __init__(self, value: Any) -> None:
        self._bits = int(value["bits"])

    def to_string(self) -> str:
        """Return the number."""
        (number,) = struct.unpack("<f", struct.pack("<I", self._bits << 16))
        return f"{number:g}"


class Half:
    """Shows a half as a number, with any version of gdb."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def to_string(self) -> str:
        """Return the number."""
        if self._value.address is None:
            return str(float(self._value))
        bits = self._value.address.reinterpret_cast(gdb.lookup_type("unsigned short").pointer()).dereference()
        (number,) = struct.unpack("<e", struct.pack("<H", int(bits)))
        return f"{number:g}"


def _printers() -> Any:
    printers = gdb.printing.RegexpCollectionPrettyPrinter("pymluops")
    printers.add_printer("bfloat16_t", "^bfloat16_t$", Bfloat16)
    printers.add_printer("half", "^(half|_Float16)$", Half)
    return printers


# ---- Breakpoints and frames ----------------------------------------------------------------------


class KernelBreakpoint(gdb.Breakpoint):  # type: ignore[misc]
    """Stops on a core, where a condition holds or cannot be told, as one that names what is not in scope."""

    def __init__(self, place: str, condition: str) -> None:
        super().__init__(place)
        self._place, self._condition, self._told = place, condition, False

    def stop(self) -> bool:
        """Tell whether to stop."""
        try:
            return not self._condition or bool(gdb.parse_and_eval(self._condition))
        except gdb.error as error:
            if not self._told:
                gdb.write(f"{self._condition}: {error}: the breakpoint at {self._place} stops without this condition\n")
            self._told = True
            return True


class Break(gdb.Command):  # type: ignore[misc]
    """Set a breakpoint: mlu-break FILE:LINE if CONDITION."""

    def __init__(self) -> None:
        super().__init__("mlu-break", gdb.COMMAND_BREAKPOINTS, gdb.COMPLETE_LOCATION)

    def invoke(self, argument: str, from_tty: bool) -> None:
        """Run the command."""
        place = argument.partition(" if ")[0].strip()
        if from_tty or gdb.selected_inferior().pid:
            _set_breakpoint(argument)
            return
        # Before the program runs, gdb says for every kernel that it knows no such source.
        gdb.execute(f"mlu-break-quietly {argument}", to_string=True)
        gdb.write(f"Breakpoint at {place}, set when the kernel is loaded\n")


class BreakQuietly(gdb.Command):  # type: ignore[misc]
    """Set a breakpoint, for mlu-break alone."""

    def __init__(self) -> None:
        super().__init__("mlu-break-quietly", gdb.COMMAND_BREAKPOINTS)

    def invoke(self, argument: str, from_tty: bool) -> None:
        """Run the command."""
        _set_breakpoint(argument)


def _set_breakpoint(argument: str) -> None:
    place, _, condition = argument.partition(" if ")
    KernelBreakpoint(place.strip(), condition.strip())


def _tell_unreached(_event: object = None) -> None:
    """Name the breakpoints that the program never stopped at."""
    for breakpoint in gdb.breakpoints():
        if isinstance(breakpoint, KernelBreakpoint) and breakpoint.enabled and not breakpoint.hit_count:
            reason = "no code was loaded for this line" if breakpoint.pending else "no core came there"
            gdb.write(f"the program never stopped at {breakpoint.location}: {reason}\n")


class KernelFrames:
    """A filter of frames: those of the kernel, then those of the simulator below them; no callers of the kernel."""

    def __init__(self) -> None:
        self.name, self.priority, self.enabled = "mlu", 100, True
        gdb.frame_filters[self.name] = self

    def filter(self, iterator: Iterator[Any]) -> Iterator[Any]:
        """Give the frames to be shown."""
        kernel: list[Any] = []
        simulator: list[Any] = []
        for frame in iterator:
            table: Any = frame.inferior_frame().find_sal().symtab  # None without debug information
            file = "" if table is None else str(table.filename)
            if kernel and file.endswith("mlusim/launch.h"):
                return iter([*kernel, *simulator])
            library = frame.inferior_frame().older() is None or "libmlusim" in str(
                gdb.solib_name(frame.inferior_frame().pc()) or ""
            )
            (simulator if library or not file else kernel).append(frame)
        # Not on a core: all, in their order.
        return iter(sorted([*kernel, *simulator], key=lambda frame: frame.inferior_frame().level()))


# ---- Arrays of the core that runs ----------------------------------------------------------------


def _arrays() -> Iterator[tuple[str, Any]]:
    """Give the arrays at file scope of the source that the selected frame is in."""
    block = gdb.selected_frame().block()
    for scope in (block.static_block, block.global_block):
        for symbol in scope or ():
            if not symbol.name.startswith(_ARRAY):
                continue
            name = symbol.name[len(_ARRAY) :]
            try:
                kind = gdb.lookup_type(f"mlusim_type_{name}", block)
                storage = symbol.value()["storage"]
                yield name, storage.dereference().cast(kind.pointer()).dereference()
            except gdb.error:
                continue


def _set_variables(_event: object = None) -> None:
    """Let ``$name`` mean the array `name`, each time that the program stops."""
    try:
        for name, value in _arrays():
            gdb.set_convenience_variable(name, value.reference_value())
    except (gdb.error, RuntimeError):  # no frame, or one without a source
        return


class Mlu(gdb.Command):  # type: ignore[misc]
    """Print which core of the simulated MLU runs, and the arrays of its source."""

    def __init__(self) -> None:
        super().__init__("mlu", gdb.COMMAND_STATUS)

    def invoke(self, argument: str, from_tty: bool) -> None:
        """Run the command."""
        task, x, y, z, core, cluster = (
            int(gdb.parse_and_eval(f"(int)mlusim_{name}"))
            for name in ("taskId", "taskIdX", "taskIdY", "taskIdZ", "coreId", "clusterId")
        )
        kind = "memory core" if core == 0x80 else f"core {core}"
        gdb.write(f"task {task} ({x}, {y}, {z}), cluster {cluster}, {kind}\n")
        for name, value in _arrays():
            type_name = re.sub(r"_Float16", "half", str(value.type.strip_typedefs()))
            gdb.write(f"  ${name}: {type_name} at {value.address}\n")


gdb.printing.register_pretty_printer(None, _printers(), replace=True)
gdb.events.stop.connect(_set_variables)
gdb.events.exited.connect(_tell_unreached)
Mlu()
Break()
BreakQuietly()
KernelFrames()
