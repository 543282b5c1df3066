"""The ``pymluops`` program: one parser, one subcommand a module.

A subcommand is a module with ``register(subparsers)``, which adds its parser and sets ``run`` as a
default of it. ``run(args)`` returns the exit code. It raises `CommandError` for anything the user
has to mend. Such a module imports what it needs inside ``run``, so that ``pymluops --help`` stays
quick.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Any, NoReturn

from pymluops import _suggestions
from pymluops._shown import one_line, shortened
from pymluops.errors import NotInitializedError

COMMANDS = (
    "pymluops.info",
    "pymluops.demo.command",
    "pymluops.bang.command",
    "pymluops.gencase.command",
    "pymluops._cache.command",
    "pymluops._completion",
    "pymluops._examples",
)

#: Of a message that repeats what was given.
_LONG_WORD = re.compile(r"\S{200,}")

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 128 + signal.SIGINT
EXIT_BROKEN_PIPE = 128 + signal.SIGPIPE if hasattr(signal, "SIGPIPE") else 1


class CommandError(Exception):
    """A problem the user can mend. The program prints it as one line and exits with `exit_code`."""

    def __init__(self, message: str, exit_code: int = EXIT_USAGE) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class _UsageError(CommandError):
    """A bad argument. The message names the program already."""


class Parser(argparse.ArgumentParser):
    """A parser that reports a bad argument in one line, without the usage text before it."""

    def error(self, message: str) -> NoReturn:
        """Raise what makes `run_program` print the message in one line."""
        message += _suggestions.for_choice(message)
        text = _LONG_WORD.sub(lambda word: shortened(word[0]), one_line(message))
        raise _UsageError(f"{self.prog}: {text} (see {self.prog} --help)")

    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, args: Any = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse, and refuse what is not known here, so that the message names the subcommand that does not know it."""
        found, left = super().parse_known_args(args, namespace)
        if left:
            options = [word for word in left if word.startswith("-")]
            hint = _suggestions.among(options, self._option_string_actions)
            self.error(f"unrecognized arguments: {' '.join(left)}{hint}")
        return found, left


def build_parser() -> Parser:
    """Return the parser of the program with every subcommand registered."""
    parser = Parser(prog="pymluops", description="Cambricon mlu-ops operators from Python.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"pymluops {metadata.version('pymluops')}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        importlib.import_module(name).register(subparsers)
    for subparser in subparsers.choices.values():
        subparser.set_defaults(program=subparser.prog)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code: 0 good, 1 a check failed, 2 bad arguments or input, 130 interrupted."""
    return run_program(build_parser, sys.argv[1:] if argv is None else argv)


def run_program(make_parser: Callable[[], Parser], arguments: Sequence[str]) -> int:
    """Parse the arguments and call the parser's default ``run``. Errors begin with its default ``program``.

    The parser is made here, because that imports modules, and an interrupt may come meanwhile.
    """
    fill_standard_streams()
    _make_output_printable()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _print_warning
            code = _run(make_parser(), arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        _print_error("interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader has gone, and does not want to know more
        _forget_output()
        return EXIT_BROKEN_PIPE
    except OSError as error:  # a full disk behind stdout, for example
        _forget_output()
        _print_error(f"pymluops: {error.strerror or error}")
        return EXIT_FAILED
    return code


def _run(parser: Parser, arguments: Sequence[str]) -> int:
    try:
        args = parser.parse_args(arguments)
    except _UsageError as error:
        _print_error(str(error))
        return error.exit_code
    except SystemExit as request:  # --help and --version
        return int(request.code or 0)
    try:
        return int(args.run(args))
    except CommandError as error:
        _print_error(f"{args.program}: {error}")
        return error.exit_code
    except NotInitializedError as error:  # the environment names what cannot be used
        _print_error(f"{args.program}: {error.detail}")
        return EXIT_USAGE
    except MemoryError:
        _print_error(f"{args.program}: there is not enough memory")
        return EXIT_USAGE


def fill_standard_streams() -> None:
    """Open the null device in place of standard streams that are closed, or the next file would get their numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _print_warning(message: Warning | str, *_: object, **__: object) -> None:
    _print_error(f"pymluops: {message}")


def _forget_output() -> None:
    """Point stdout elsewhere, or the interpreter complains when it flushes what could not be written at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_error(message: str) -> None:
    if sys.stderr is not None:
        print(one_line(message), file=sys.stderr)


def _make_output_printable() -> None:
    """Let a file name that the terminal's encoding lacks be printed with escapes instead of raising."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
