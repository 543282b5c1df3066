"""The common part of the subcommands: the options of a launch, the sources that they name, and outputs."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pymluops._shown import one_line, shortened
from pymluops._whole_file import whole_file
from pymluops.bang.command.values import HELP, arrange, read
from pymluops.cli import EXIT_USAGE, CommandError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pymluops._core import Backend
    from pymluops.bang import Launch, Module

__all__ = [
    "Prepared",
    "add_finding_options",
    "add_launch_options",
    "explained",
    "integer_type",
    "number_from_0",
    "prepare",
    "require_place",
    "save_outputs",
    "summary",
]

_SHOWN = 6  # elements of an output
_MOST_DIGITS = 30  # of numbers that options take


class Prepared(NamedTuple):
    """A launch with its arguments, ready to be called."""

    module: Module
    launch: Launch
    arguments: list[Any]

    @property
    def backend(self) -> Backend:
        """The simulator."""
        return self.module.backend


def add_launch_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the kernel, its launch and its arguments."""
    parser.epilog = HELP
    parser.add_argument(
        "file", nargs="+", type=Path, metavar="FILE", help="sources in BANG C, which become one library"
    )
    launch = parser.add_argument_group("the launch")
    launch.add_argument(
        "--entry",
        metavar="NAME",
        help="the kernel, or an instance of a template: 'scale<half, 64>'; may be left out if there is only one",
    )
    launch.add_argument(
        "--dim", type=_dim, default=(1, 1, 1), metavar="X[,Y[,Z]]", help="the number of tasks; default: 1"
    )
    launch.add_argument(
        "--type", type=_type, default="block", metavar="TYPE", help="block (the default), union1, union2, ... union16"
    )
    launch.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="[NAME=]VALUE",
        help="an argument, see below; once for each parameter",
    )
    launch.add_argument(
        "--save", action="append", default=[], metavar="NAME=FILE.npy", help="keep an output in a file; may be repeated"
    )
    launch.add_argument(
        "--time-limit", type=number_from_0, metavar="SECONDS", help="limit of the launch, 0: none; default: 600"
    )
    compiled = parser.add_argument_group("the compiler")
    compiled.add_argument(
        "--arch", default="mtp_592", metavar="ARCH", help="mtp_592 (the default), MLU370-X8, 290 and the like"
    )
    compiled.add_argument(
        "-I", dest="include_dirs", action="append", default=[], metavar="DIR", help="look for headers there"
    )
    compiled.add_argument(
        "-D", dest="defines", action="append", default=[], metavar="NAME[=VALUE]", help="define a macro"
    )
    compiled.add_argument(
        "--option", action="append", default=[], metavar="OPTION", help="give the compiler an option: --option=-O0"
    )


def add_finding_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for checkers, rules and the format of findings."""
    found = parser.add_argument_group("findings")
    found.add_argument(
        "--check", default="all", metavar="CHECKERS", help="memory,init,race,sync,align, all (the default) or none"
    )
    found.add_argument(
        "--rules",
        metavar="RULES",
        help="actions of rules: race/on-chip-order=off,init=record; see docs/simulator-rules.md",
    )
    found.add_argument(
        "--strict", action="store_true", help="let a launch fail for every rule, also for those that are usually off"
    )
    found.add_argument("--format", choices=("text", "json", "sarif"), default="text", help="default: text")


def rules_of(args: argparse.Namespace) -> str | None:
    """Return the actions of rules: those that the user gives, behind what `--strict` means."""
    return ",".join(filter(None, ("all=fail" if args.strict else "", args.rules))) or None


def prepare(args: argparse.Namespace, options: Sequence[str] = ()) -> Prepared:
    """Compile the sources and make the launch with its arguments.

    Parameters
    ----------
    args : argparse.Namespace
        With the options of `add_launch_options`.
    options : sequence of str
        For the compiler, behind those that the user gives.

    Raises
    ------
    CommandError
        For anything that the user has to mend.
    """
    from pymluops import bang, sim

    # Malformed options are reported before anything is compiled.
    for name, file in saved_outputs(args).items():
        require_place(f"--save {shortened(one_line(name))}", file)
    written = [read(text) for text in args.arg]
    with explained():
        _require_words(args)
        module = bang.compile(
            list(args.file),
            include_dirs=args.include_dirs,
            defines=_defines(args.defines),
            arch=args.arch,
            options=[*args.option, *options],
        )
        kernel = module.kernel(_entry(module, args.entry))
        launch = kernel[args.dim, args.type]
        arguments = arrange(written, kernel.signature.parameters)
        _release(launch, arguments)
        if args.time_limit is not None:
            sim.set_time_limit(args.time_limit)
    unknown = set(saved_outputs(args)) - {parameter.name for parameter in kernel.signature.parameters}
    if unknown:
        raise CommandError(f"--save {shortened(one_line(min(unknown)))}: expected a parameter of {kernel.signature}")
    return Prepared(module, launch, arguments)


def _require_words(args: argparse.Namespace) -> None:
    """Have checkers, rules and schedules refused that the simulator does not know."""
    from pymluops.sim._checks import recording
    from pymluops.sim._library import simulator
    from pymluops.sim._schedules import parsed_schedule

    if hasattr(args, "rules"):
        with recording(simulator(), args.check, rules_of(args)):
            pass
    given: str | list[str] = getattr(args, "schedule", None) or []
    for words in [given] if isinstance(given, str) else given:
        parsed_schedule(simulator(), words)


def _release(launch: Launch, arguments: Sequence[Any]) -> None:
    """Let the kernel refuse arguments before anything is run."""
    from pymluops.bang._module import release

    release(launch.convert(arguments))


def _entry(module: Module, name: str | None) -> str:
    if name is not None:
        return name
    if len(module.kernels) == 1:
        return next(iter(module.kernels))
    raise CommandError(
        f"--entry: expected one of {', '.join(module.kernels) or 'no kernels: there is none in the sources'}"
    )


def _defines(words: Sequence[str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for word in words:
        name, equals, value = word.partition("=")
        found[name] = value if equals else True
    return found


@contextmanager
def explained() -> Generator[None]:
    """Make errors of this package a `CommandError`; a compiler's text goes to stderr before."""
    from pymluops.errors import ExecutionFailedError, MluOpError
    from pymluops.sim.toolchain import CompileError

    try:
        yield
    except CompileError as error:
        print(str(error), file=sys.stderr)
        raise CommandError("the sources cannot be compiled") from None
    except ExecutionFailedError:
        raise
    except MluOpError as error:
        raise CommandError(error.detail, EXIT_USAGE) from None


# ---- Types of options ----------------------------------------------------------------------------


def integer_type(least: int, most: int) -> Callable[[str], int]:
    """Return the type of an option that takes an integer in a range."""

    def convert(text: str) -> int:
        digits = text.strip().removeprefix("-")
        number = int(text) if _is_number(digits) else None
        if number is None or not least <= number <= most:
            raise argparse.ArgumentTypeError(f"expected an integer from {least} to {most}, got {_shortly(text)}")
        return number

    return convert


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS


def _shortly(text: str) -> str:
    return shortened(one_line(text))


def _type(text: str) -> str:
    from pymluops.bang._module import KINDS

    if text.lower() not in KINDS:
        raise argparse.ArgumentTypeError(f"expected one of {', '.join(KINDS)}, got {_shortly(text)}")
    return text.lower()


def _dim(text: str) -> tuple[int, int, int]:
    from pymluops.bang._module import MOST_TASKS

    words = [word.strip() for word in text.split(",")]
    if not 1 <= len(words) <= 3 or not all(_is_number(word) and 0 < int(word) <= MOST_TASKS for word in words):
        raise argparse.ArgumentTypeError(
            f"expected one to three numbers from 1 to {MOST_TASKS}, such as 4,8,1, got {_shortly(text)}"
        )
    x, y, z = (*map(int, words), 1, 1)[:3]
    return x, y, z


def number_from_0(text: str) -> float:
    """Return the number that an option gives."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number from 0, got {_shortly(text)}")
    return seconds


def saved_outputs(args: argparse.Namespace) -> dict[str, Path]:
    """Return the files for outputs, by parameter."""
    files: dict[str, Path] = {}
    for word in args.save:
        name, equals, file = word.partition("=")
        if not name or not equals or not file:
            raise CommandError(f"--save: expected NAME=FILE.npy, got {shortened(one_line(word))}")
        if name in files:
            raise CommandError(f"--save {shortened(one_line(name))}: is given twice")
        files[name] = Path(file)
    return files


def require_place(option: str, file: Path) -> None:
    """Refuse a file that cannot be written, before its contents are computed.

    Raises
    ------
    CommandError
        If its folder is not there, or may not be written to, or it is a folder itself.
    """
    reason = 0
    if not os.path.isdir(file.parent):
        reason = errno.ENOTDIR if os.path.exists(file.parent) else errno.ENOENT
    elif os.path.isdir(file):
        reason = errno.EISDIR
    elif not os.access(file if os.path.exists(file) else file.parent, os.W_OK):
        reason = errno.EACCES
    if reason:
        raise CommandError(f"{option}: {shortened(one_line(str(file)))}: {os.strerror(reason)}")


# ---- Outputs -------------------------------------------------------------------------------------


def save_outputs(args: argparse.Namespace, outputs: Mapping[str, NDArray[Any]]) -> None:
    """Write the outputs that ``--save`` names.

    Raises
    ------
    CommandError
        If one is no output, or a file cannot be written.
    """
    import numpy as np

    for name, file in saved_outputs(args).items():
        if name not in outputs:
            raise CommandError(f"--save {name}: the kernel writes to {', '.join(outputs) or 'no array'} only")
        try:
            with whole_file(file) as whole, whole.open("wb") as stream:
                np.save(stream, outputs[name])
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CommandError(f"--save {name}: {shortened(one_line(str(file)))}: {reason}") from None


def summary(name: str, array: NDArray[Any]) -> str:
    """Return one line about an output: shape, range, number of NaN, the first elements."""
    import numpy as np

    text = f"{name}: {array.dtype.name}{list(array.shape)}"
    if array.size == 0 or (array.dtype.kind not in "fiub" and array.dtype.name != "bfloat16"):
        return text
    values = array.reshape(-1).astype(np.float64) if array.dtype.kind not in "iub" else array.reshape(-1)
    finite = values[np.isfinite(values)]
    if finite.size:
        mean = float(np.mean(finite.astype(np.float64)))
        text += f", from {_shown(finite.min())} to {_shown(finite.max())}, mean {mean:.6g}"
    for word, count in (("NaN", np.isnan(values).sum()), ("infinite", np.isinf(values).sum())):
        text += f", {count} {word}" if count else ""
    first = " ".join(_shown(value) for value in values[:_SHOWN])
    return f"{text}: {first}{' ...' if array.size > _SHOWN else ''}"


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(int(value))
