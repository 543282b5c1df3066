"""The cell magic ``%%bang`` for notebooks and IPython: ``%load_ext pymluops.bang.notebook``."""

from __future__ import annotations

import argparse
import shlex
from typing import Any, NoReturn

from pymluops import bang
from pymluops.errors import BadParamError

__all__ = ["load_ipython_extension"]

_USAGE = """Compile the cell, which is a source in BANG C, and call the result by a name.

The name is a `pymluops.bang.Module` afterwards, and is shown with its kernels.

Examples
--------
In [1]: %load_ext pymluops.bang.notebook

In [2]: %%bang scaling --arch MLU370-X8 -D WIDTH=64
   ...: __mlu_entry__ void scale(float *x, float by) { x[taskId] *= by; }

In [3]: scaling.kernel("scale")[4](x, 2)
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadParamError(f"%%bang: {message}: {self.format_usage().strip()}")


def _parser() -> _Parser:
    parser = _Parser("%%bang", add_help=False, allow_abbrev=False)
    parser.add_argument("name", help="of the variable for the module")
    parser.add_argument("--arch", default="mtp_592", help="architecture or card")
    parser.add_argument("-I", dest="include_dirs", action="append", default=[], metavar="FOLDER")
    parser.add_argument("-D", dest="defines", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--option", dest="options", action="append", default=[], metavar="OPTION")
    return parser


def load_ipython_extension(shell: Any) -> None:
    """Register the magic; ``%load_ext pymluops.bang.notebook`` calls this.

    Parameters
    ----------
    shell : IPython.core.interactiveshell.InteractiveShell
        The shell.
    """

    def magic(line: str, cell: str) -> bang.Module:
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise BadParamError(f"%%bang: {error}") from None
        given = _parser().parse_args(words)
        if not given.name.isidentifier():
            raise BadParamError(f"%%bang: name: expected the name of a variable, got {given.name!r}")
        defines = {name: value if equals else True for name, equals, value in (d.partition("=") for d in given.defines)}
        module = bang.compile(
            cell + "\n", arch=given.arch, include_dirs=given.include_dirs, defines=defines, options=given.options
        )
        shell.push({given.name: module})
        return module

    magic.__doc__ = _USAGE
    shell.register_magic_function(magic, magic_kind="cell", magic_name="bang")
