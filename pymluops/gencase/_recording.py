"""Lets a library write a case of each call."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from pymluops import functions, load
from pymluops._core import Backend
from pymluops.errors import NotSupportedError

__all__ = ["recording"]

_SET, _GET = "mluopsExtSetGenCaseSwitches", "mluopsExtGetGenCaseSwitches"
#: The mode that writes values, and how: all inputs, as decimal numbers.
_WITH_DATA, _DECIMAL = 2, 1


@contextmanager
def recording(
    directory: str | os.PathLike[str], library: str | Backend = "cpu", *, outputs: bool = False
) -> Generator[Path]:
    """Write a case with all its data for each call of an operator of the vendor's header.

    Files go to ``<directory>/gen_case/<operator>/``. The switches are those of the process: calls
    of other threads are written too.

    Parameters
    ----------
    directory : path
        Where the folder ``gen_case`` is made. ``{pid}`` and ``{deviceid}`` are replaced.
    library : str or Backend
        The library whose calls are written.
    outputs : bool
        Write the outputs too, into files beside the case.

    Yields
    ------
    pathlib.Path
        The directory.

    Raises
    ------
    NotSupportedError
        If the library has other switches only; a vendor's library reads the environment variables
        ``MLUOP_GEN_CASE*`` when it is loaded.

    Examples
    --------
    >>> import tempfile, numpy, pymluops
    >>> from pymluops import gencase
    >>> x, shifts = numpy.ones((1, 2, 4, 3), numpy.float32), numpy.zeros((1, 2), numpy.int32)
    >>> with tempfile.TemporaryDirectory() as folder, gencase.recording(folder) as directory:
    ...     _ = pymluops.tin_shift_forward(x, shifts)
    ...     len(list(directory.rglob("*.prototxt")))
    1
    """
    backend = load(library)
    if not backend.exports(_SET):
        raise NotSupportedError(f"recording: {backend.path} does not export {_SET}", function=_SET)
    before = [backend.ffi.new("int *") for _ in range(4)]
    getattr(backend.lib, _GET)(*before)
    base = functions.mluOpGetGenCaseDirectory(backend=backend)
    functions.mluOpSetGenCaseDirectory(os.fspath(directory), backend=backend)
    getattr(backend.lib, _SET)(_WITH_DATA, _DECIMAL, 0, int(outputs))
    try:
        yield Path(functions.mluOpGetGenCaseDirectory(backend=backend))
    finally:
        getattr(backend.lib, _SET)(*(int(number[0]) for number in before))
        functions.mluOpSetGenCaseDirectory("" if base == os.getcwd() else base, backend=backend)
