"""``pymluops kernel debug``: gdb at a line of a chosen core, with variables to be seen."""

from __future__ import annotations

import argparse
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pymluops._shown import one_line, shortened
from pymluops.bang.command import launches
from pymluops.cli import CommandError

if TYPE_CHECKING:
    from pymluops.bang import Signature

DESCRIPTION = """\
Compile sources without optimisation, and start gdb on a launch. It stops at a line of the kernel on the chosen core or
task. Then `mlu` prints which core runs, `print $buffer` shows the array `buffer` that the source declares __nram__,
__wram__ or __mlu_shared__ at file scope, `bt` shows the functions of the kernel, `continue` goes on.
"""
OPTIONS = ("-O0", "-g")
SCRIPT = Path(__file__).with_name("gdb_kernels.py")
#: Before the program is there. The simulator needs signal 43 itself.
SETTINGS = (
    "set breakpoint pending on",
    "set debuginfod enabled off",
    "set confirm off",
    "set max-value-size unlimited",
    "handle SIG43 nostop noprint pass",
)


def register(subparsers: Any) -> None:
    """Add the ``debug`` subcommand."""
    text = "start gdb on a launch"
    parser = subparsers.add_parser("debug", help=text, description=DESCRIPTION, allow_abbrev=False)
    launches.add_launch_options(parser)
    stop = parser.add_argument_group("where gdb stops")
    stop.add_argument(
        "--break", dest="breaks", action="append", type=_place, default=[], metavar="[FILE:]LINE",
        help="a line, of the first source if it has no file; may be repeated; default: the head of the kernel",
    )  # fmt: skip
    core = stop.add_mutually_exclusive_group()
    number = launches.integer_type(0, 2**32 - 1)
    core.add_argument("--task", type=number, metavar="N", help="only on the task with this taskId")
    core.add_argument(
        "--core", type=number, metavar="N", help="only on this core of a job: clusterId * coreDim + coreId"
    )
    stop.add_argument("--if", dest="condition", metavar="EXPRESSION", help="only if this holds there: 'i == 3'")
    gdb = parser.add_argument_group("gdb")
    gdb.add_argument("--gdb", default="gdb", metavar="PROGRAM", help="default: gdb")
    gdb.add_argument("--command", action="append", default=[], metavar="COMMAND", help="run when it has stopped first")
    gdb.add_argument("--batch", action="store_true", help="leave gdb after the commands")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Start gdb and return its exit code."""
    program: str | None = shutil.which(str(args.gdb))
    if program is None:
        raise CommandError(f"--gdb: there is no program {shortened(one_line(args.gdb))}: install gdb, or name another")
    # Bad input is found before gdb starts, and compiled files are kept for the process that gdb
    # runs.
    prepared = launches.prepare(args, OPTIONS)
    _require_places(args)
    _require_core(args, prepared)
    commands = [
        *SETTINGS,
        f"source {SCRIPT}",
        *_breakpoints(args, prepared.launch.kernel.signature),
        "run",
        *args.command,
    ]
    words: list[str] = [
        program,
        "-q",
        "-nx",
        "-iex",
        f"add-auto-load-safe-path {sys.base_prefix}",
        *(["-batch"] if args.batch else []),
    ]
    words += [word for command in commands for word in ("-ex", command)]
    return subprocess.run([*words, "--args", *_launch_again(args)], check=False).returncode


def _require_places(args: argparse.Namespace) -> None:
    """Have lines refused that a source does not have; gdb would wait for them in silence."""
    for name, line in args.breaks:
        given = name or str(args.file[0])
        path = next((file for file in args.file if given in (str(file), file.name)), Path(given))
        if not path.is_file():
            if "/" in given:
                raise CommandError(f"--break {shortened(one_line(given))}:{line}: there is no such file")
            continue  # a header, which gdb knows by its name
        lines = path.read_bytes().count(b"\n") + 1
        if line > lines:
            raise CommandError(f"--break {shortened(one_line(given))}:{line}: expected a line of 1 to {lines}")


def _require_core(args: argparse.Namespace, prepared: launches.Prepared) -> None:
    """Have tasks and cores refused that the launch does not have."""
    from pymluops import sim

    tasks = math.prod(args.dim)
    if args.task is not None and args.task >= tasks:
        raise CommandError(f"--task {args.task}: expected a taskId of 0 to {tasks - 1}, the tasks of --dim")
    with launches.explained():
        prepared.module.require_card()
        cores_per_cluster = sim.device().cores_per_cluster
    cores = int(args.type.removeprefix("union")) * cores_per_cluster if args.type.startswith("union") else 1
    if args.core is not None and args.core >= cores:
        raise CommandError(f"--core {args.core}: expected a core of 0 to {cores - 1}, those of a job of {args.type}")


def _breakpoints(args: argparse.Namespace, signature: Signature) -> list[str]:
    conditions: list[str] = []
    if args.task is not None:
        conditions.append(f"(int)mlusim_taskId == {args.task}")
    if args.core is not None:
        number = "(int)mlusim_clusterId * (int)mlusim_coreDim + (int)mlusim_coreId"
        conditions.append(f"(int)mlusim_coreId != 0x80 && {number} == {args.core}")
    if args.condition is not None:  # last: what stands before it may be told anywhere
        conditions.append(f"({args.condition})")
    condition = f" if {' && '.join(conditions)}" if conditions else ""
    places = args.breaks or [(signature.file, signature.line)]
    return [f"mlu-break {file or args.file[0]}:{line}{condition}" for file, line in places]


def _launch_again(args: argparse.Namespace) -> list[str]:
    """Return the command that gdb runs: the same launch, without a limit of its time and without checkers."""
    # Absolute: a name may begin with a dash.
    files = [str(file.absolute()) if str(file).startswith("-") else str(file) for file in args.file]
    words: list[str] = [sys.executable, "-P", "-m", "pymluops", "kernel", "run", *files]
    words += ["--dim", ",".join(map(str, args.dim)), "--type", args.type, "--arch", args.arch]
    words += ["--check", "none", "--time-limit", "0"]
    words += [] if args.entry is None else ["--entry", args.entry]
    for option, values in (
        ("--arg", args.arg), ("--save", args.save), ("-I", args.include_dirs), ("-D", args.defines),
        ("--option", [*args.option, *OPTIONS]),
    ):  # fmt: skip
        words += [f"{option}={value}" if option.startswith("--") else f"{option}{value}" for value in values]
    return words


def _place(text: str) -> tuple[str, int]:
    match = re.fullmatch(r"(?:(.+):)?([0-9]{1,9})", text)
    if match is None or int(match[2]) == 0:
        raise argparse.ArgumentTypeError(f"expected FILE:LINE or LINE, got {shortened(one_line(text))}")
    return match[1] or "", int(match[2])
