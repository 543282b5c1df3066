"""Lets a library write a case of each call."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from pymluops import _case_writer, functions, load
from pymluops._core import Backend
from pymluops.errors import InternalError, NotSupportedError
from pymluops.gencase import _watching

__all__ = ["recording"]

_SET, _GET = "mluopsExtSetGenCaseSwitches", _watching.SWITCHES
#: The mode that writes values, and how: all inputs, as decimal numbers.
_WITH_DATA, _DECIMAL = 2, 1
#: Where libraries are recorded into now, by their paths.
_directories: dict[str, str] = {}
_lock = threading.Lock()


@contextmanager
def recording(
    directory: str | os.PathLike[str], library: str | Backend = "cpu", *, outputs: bool = False
) -> Generator[Path]:
    """Write a case with all its data for each call of an operator.

    Files go to ``<directory>/gen_case/<operator>/``, in the format of the vendor's operator. A
    Python function that has another signature than the vendor's operator is written as this
    operator, which is called once more for it. A call that the vendor's operator does not compute,
    as in float64 or of a function that the vendor lacks, is not written, and the first one of each
    function warns, with the reason. The switches are those of the process: calls
    of other threads are written too, and if the environment has ``MLUOP_GEN_CASE_OP_NAME``, those
    of its operators alone.

    Parameters
    ----------
    directory : path
        Where the folder ``gen_case`` is made. ``{pid}`` and ``{deviceid}`` are replaced. A
        relative one counts from the folder that is the current one when the recording begins.
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
    RuntimeError
        If the calls of the library are recorded already, by this thread or another one.
    FileNotFoundError
        If the directory is relative, and the current folder is no longer there.

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
    current = _current_folder()
    target = _absolute(os.fspath(directory), current)
    with _alone(str(backend.path), target):
        before = [backend.ffi.new("int *") for _ in range(4)]
        getattr(backend.lib, _GET)(*before)
        base = _directory(backend)
        try:
            functions.mluOpSetGenCaseDirectory(target, backend=backend)
            getattr(backend.lib, _SET)(_WITH_DATA, _DECIMAL, 0, int(outputs))
            _watching.say_again()
            _case_writer.watch()
            try:
                yield Path(functions.mluOpGetGenCaseDirectory(backend=backend))
            finally:
                _case_writer.unwatch()
        finally:
            getattr(backend.lib, _SET)(*(int(number[0]) for number in before))
            functions.mluOpSetGenCaseDirectory("" if base == current else base, backend=backend)


def _current_folder() -> str | None:
    """Return the current folder, None if it is no longer there."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None


def _absolute(directory: str, current: str | None) -> str:
    if current is None and not os.path.isabs(directory):
        reason = "the current folder is no longer there, and this directory is relative to it"
        raise FileNotFoundError(errno.ENOENT, f"recording: {reason}", directory)
    return os.path.normpath(os.path.join(current or "", directory))


def _directory(backend: Backend) -> str:
    """Return the directory that is set; empty where it is the current folder, which is no longer there."""
    try:
        return functions.mluOpGetGenCaseDirectory(backend=backend)
    except InternalError:
        return ""


@contextmanager
def _alone(library: str, directory: str) -> Generator[None]:
    """Refuse a second recording of a library: its switches are those of the process."""
    with _lock:
        other = _directories.get(library)
        if other is not None:
            raise RuntimeError(
                f"recording: calls of {library} are recorded already, into {other}; one recording at a time"
            )
        _directories[library] = directory
    try:
        yield
    finally:
        with _lock:
            del _directories[library]
