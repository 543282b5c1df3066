"""A test case that can be run, and the function that reads one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pymluops.gencase._file import CaseFile, read_node
from pymluops.gencase._run import run_case

if TYPE_CHECKING:
    from pymluops._core import Backend
    from pymluops.gencase.result import Result

__all__ = ["Case", "read"]


class Case(CaseFile):
    """A test case of one operator.

    Parameters
    ----------
    node : message
        The message ``Node``.
    path : pathlib.Path, optional
        The file that it is from.
    """

    def run(self, library: str | Backend = "cpu", against: str | Backend = "oracle") -> Result:
        """Run it on a library and compare what comes out.

        Parameters
        ----------
        library : str or Backend
            ``cpu``, ``sim``, or the path of a library.
        against : str or Backend
            ``oracle``: the results that the operator should have; ``file``: the outputs in the
            file; or another library.

        Returns
        -------
        Result
            With the criteria of the file and their values. A case that cannot run has the outcome
            ``ERROR`` and says why.
        """
        return run_case(self, library, against)


def read(path: str | os.PathLike[str]) -> Case:
    """Read a test case.

    Parameters
    ----------
    path : path
        A file ``.prototxt`` (text) or ``.pb`` (binary).

    Returns
    -------
    Case
        What it says. Values are read when they are asked for.

    Raises
    ------
    CaseError
        If it is no case: one line with file, line and reason.
    OSError
        If it cannot be read.
    ImportError
        If the package protobuf is not installed.
    """
    return Case(read_node(path), Path(path))
