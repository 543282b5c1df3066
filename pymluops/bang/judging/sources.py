"""Compiles the source of a kernel without running any of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pymluops._cache.scratch import scratch_folder
from pymluops.bang._build import Build, Input
from pymluops.bang._definitions import templates_in
from pymluops.bang._headers import Expander
from pymluops.bang._loaded import keep_written, written
from pymluops.bang._macros import macros_in
from pymluops.sim.toolchain import CompileError
from pymluops.sim.translator.spelled_words import with_spelled_words
from pymluops.sim.translator.text import quoted

__all__ = ["CompilerSaid", "WrittenBuild", "base_name", "read_error"]

_INSTANCE = re.compile(r"^([\w:]+)\s*<.*>$", re.DOTALL)
_ERROR = re.compile(r"^(?P<file>[^\n:]+):(?P<line>\d+)(?::\d+)?: (?:fatal )?error: (?P<message>[^\n]*)", re.MULTILINE)
_PLACE = re.compile(r"^(?P<file>[^\n:]+):(?P<line>\d+): (?P<message>[^\n]*)", re.MULTILINE)
_ENTRY = re.compile(r"\b(?:__mlu_entry__|__mlu_global__)\b")
_MOST_SAID = 4000


@dataclass
class WrittenBuild(Build):
    """A build whose libraries are compiled and written first, and loaded later."""

    _written: dict[str, tuple[str, Path]] = field(init=False, default_factory=dict[str, tuple[str, Path]])

    def write(self, source: Input, entry: str | None) -> bool:
        """Compile a source, and the instance of a template that `entry` names; return whether nothing had to be.

        Raises
        ------
        CompileError
            If the source is refused.
        """
        kept = self._write([source], "", "")
        if entry is None or not _INSTANCE.match(entry):
            return kept
        expander = Expander(self.include_dirs, [self.simulator.include])
        expanded = expander.expand(source.text, source.name, source.folder)
        text = with_spelled_words(expanded.text, source.name, macros_in(self.options))
        parameters = templates_in(text, source.name).get(base_name(entry))
        if parameters is None:
            return kept
        name = entry.removeprefix("::")
        behind = f"MLUOPS_MODULE_INSTANCE({quoted(entry)}, {quoted(parameters)}, ::{name});"
        return self._write([source], f'kernel("{entry}")', behind) and kept

    def has_kernel_words(self, source: Input) -> bool:
        """Tell whether a source, or a header of it that can be read, has a word that begins a kernel."""
        text = source.text
        with suppress(CompileError, RecursionError):
            text = Expander(self.include_dirs, [self.simulator.include]).expand(text, source.name, source.folder).text
        return _ENTRY.search(" ".join((text, *self.options))) is not None

    def _write(self, inputs: Sequence[Input], instance: str, behind: str) -> bool:
        made = self.linked(inputs, instance, behind)
        path = written(made.name, made.data, scratch_folder())
        self._written[instance] = made.name, path
        return made.kept

    def library(self, inputs: Sequence[Input], instance: str = "", behind: str = "") -> Path:
        """Load what was written."""
        known = self._written.get(instance)
        if known is None:
            raise CompileError(f"{inputs[0].name}: {instance or 'the source'} was not compiled before it was asked for")
        return keep_written(*known)


def base_name(entry: str) -> str:
    """Return the name of a kernel, or that of the template of an instance."""
    match = _INSTANCE.match(entry)
    return (match[1] if match else entry).removeprefix("::")


class CompilerSaid(NamedTuple):
    """The first error of a compiler: its place, empty and 0 if it names none, and the text as a whole."""

    file: str
    line: int
    message: str
    text: str


def read_error(said: str) -> CompilerSaid:
    """Take the first error out of what a compiler said."""
    text = said.strip()
    match = _ERROR.search(text) or _PLACE.search(text)
    shortened = text if len(text) <= _MOST_SAID else f"{text[:_MOST_SAID]}\n..."
    if match is None:
        return CompilerSaid("", 0, text.splitlines()[0] if text else "the compiler failed", shortened)
    return CompilerSaid(match["file"], int(match["line"]), match["message"], shortened)
