"""Which shared library is which: finding, loading, and the default.

`Backend` and its loading are in `pymluops._core`; here is where to look, under three names:

``cpu``
    The library of this package for the CPU.
``sim``
    The library of this package that runs the device kernels on a simulated MLU.
``mlu``
    The vendor's library, for a device.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import warnings
from types import TracebackType
from typing import Any, NamedTuple, cast

from pymluops import _environment
from pymluops._arguments import shown
from pymluops._core import Backend, get_default_backend, register_finder, set_default_backend
from pymluops._workers import limit_threads
from pymluops.errors import BadParamError, BadParamTypeError, MluOpError, NotInitializedError

__all__ = ["Backend", "BackendInfo", "backends", "current", "load", "use"]

NAMES = ("cpu", "sim", "mlu")

_VENDOR_FILE = "libmluops.so"
#: The simulator without operators, and the stand-in for the tensor library: what foreign libraries
#: are linked with.
_MACHINE = ("libmlusim.so", "libmlusim_cnnl.so")

#: Every library that was opened, by the real path of its file.
_loaded: dict[str, Backend] = {}
_lock = threading.RLock()


# A fork waits while another thread opens a library: the child would have half of it, and import
# locks that are never released.
os.register_at_fork(
    before=_lock.acquire,
    after_in_parent=_lock.release,
    after_in_child=_lock.release,
)
register_finder(sys.modules[__name__])


class BackendInfo(NamedTuple):
    """What `backends` tells about one name."""

    name: str
    available: bool
    path: str | None
    version: str | None
    reason: str | None


def load(name_or_path: str | os.PathLike[str] | Backend) -> Backend:
    """Open a library with the ABI of mlu-ops.

    A library is opened once and stays loaded until the process ends. A function that it lacks is
    missed only when it is called: `NotSupportedError` then names it.

    Parameters
    ----------
    name_or_path : str or os.PathLike
        ``"cpu"``, ``"sim"``, ``"mlu"``, or the path of a shared library.

    Returns
    -------
    Backend

    Raises
    ------
    NotInitializedError
        If the library is not there, cannot be loaded or is not an mlu-ops library; for the
        simulator also if ``PYMLUOPS_SIM_DEVICE`` or ``PYMLUOPS_SIM_CHECK`` cannot be followed, see
        `pymluops.sim`. Every library needs an environment that can be followed: a variable with a
        value that it cannot have is named.
    BadParamError
        If `name_or_path` is neither a name nor a path.

    Examples
    --------
    >>> import pymluops
    >>> pymluops.load("cpu").kind
    'cpu'
    """
    if isinstance(name_or_path, Backend):
        return name_or_path
    if name_or_path in NAMES:
        return _open(_find(str(name_or_path)), str(name_or_path))
    path = _as_path(name_or_path)
    if path is None:
        kind = BadParamError if _names_a_file(name_or_path) else BadParamTypeError
        raise kind(f"load: name_or_path: expected 'cpu', 'sim', 'mlu' or a path, got {shown(name_or_path)}")
    if not os.path.isfile(path):
        raise NotInitializedError(f"{_environment.text_shown(path)}: there is no such file")
    real = os.path.realpath(path)
    return _open(real, _name_of(real))


def backends() -> dict[str, BackendInfo]:
    """Tell which libraries can be used, by name.

    Returns
    -------
    dict
        Name -> `BackendInfo`. `reason` says in one sentence why a library is not available.

    Examples
    --------
    >>> import pymluops
    >>> pymluops.backends()["cpu"].available
    True
    """
    return {name: _info(name) for name in NAMES}


class use:  # noqa: N801 - used like a function
    """Select the default backend of the process; as a context manager, until the block ends.

    The default is what operators, `Handle` and descriptors take when they are not told. It starts
    as what the environment variable ``PYMLUOPS_BACKEND`` says, else ``"cpu"``. It is one for all
    threads.

    Parameters
    ----------
    name_or_path : str, os.PathLike or Backend
        As for `load`, which is called at once.

    Attributes
    ----------
    backend : Backend
        What was selected.

    Examples
    --------
    >>> import pymluops
    >>> with pymluops.use("cpu") as backend:
    ...     backend.name
    'cpu'
    """

    def __init__(self, name_or_path: str | os.PathLike[str] | Backend) -> None:
        self.backend = load(name_or_path)
        self._before = get_default_backend()
        set_default_backend(self.backend)

    def __enter__(self) -> Backend:
        set_default_backend(self.backend)
        return self.backend

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        set_default_backend(self._before)

    def __repr__(self) -> str:
        return f"<pymluops.use {self.backend.name}>"


def current() -> Backend:
    """Return the default backend; see `use`."""
    backend = get_default_backend()
    if backend is None:
        with _lock:
            backend = get_default_backend()
            if backend is None:
                backend = _first_default()
                set_default_backend(backend)
    return backend


def _first_default() -> Backend:
    variable = _environment.text("PYMLUOPS_BACKEND")
    try:
        return load(variable or "cpu")
    except MluOpError as error:
        if not variable:
            raise
        raise type(error)(f"PYMLUOPS_BACKEND is {_environment.text_shown(variable)}: {error.detail}") from None


# ---- Finding -------------------------------------------------------------------------------------


def _find(name: str) -> str:
    """Return the file of a named library: a path, or a file name that the loader knows how to find."""
    if name != "mlu":
        path = _packaged(name)
        if not os.path.isfile(path):
            raise NotInitializedError(f"{os.path.basename(path)} is not in this installation")
        return path
    variable = _environment.text("PYMLUOPS_MLU_LIBRARY")
    if variable:
        if not os.path.isfile(variable):
            raise NotInitializedError(
                f"PYMLUOPS_MLU_LIBRARY is {_environment.text_shown(variable)}, and there is no such file"
            )
        return variable
    return _vendor_path() or _VENDOR_FILE


def _packaged(name: str) -> str:
    # Beside the compiled module; in an editable installation the Python files lie elsewhere.
    return os.path.join(os.path.dirname(cast(str, sys.modules[Backend.__module__].__file__)), f"libmluops_{name}.so")


def _vendor_path() -> str | None:
    home = os.environ.get("NEUWARE_HOME")
    path = os.path.join(home, "lib64", _VENDOR_FILE) if home else ""
    return path if path and os.path.isfile(path) else None


def _names_a_file(value: object) -> bool:
    return isinstance(value, (str, os.PathLike))


def _as_path(value: object) -> str | None:
    """Return `value` as a path; a text is one if it looks like one or the file is there."""
    if isinstance(value, str):
        return value if os.sep in value or ".so" in value or os.path.isfile(value) else None
    return os.fsdecode(cast("os.PathLike[str]", value)) if isinstance(value, os.PathLike) else None


def _name_of(real: str) -> str | None:
    """Return the name under which `load` also finds this file."""
    for name in ("cpu", "sim"):
        if real == os.path.realpath(_packaged(name)):
            return name
    vendor = _environment.text("PYMLUOPS_MLU_LIBRARY") or _vendor_path()
    return "mlu" if vendor and real == os.path.realpath(vendor) else None


# ---- Loading -------------------------------------------------------------------------------------


def _open(file: str, name: str | None) -> Backend:
    with _lock:
        real = os.path.realpath(file) if os.sep in file else file
        if real in _loaded:
            return _loaded[real]
        _environment.check()
        try:
            backend = _backend(real, name)
            if backend.kind == "sim":
                _prepare_simulator(backend)
            elif backend.kind == "cpu":
                limit_threads(backend)
        except NotInitializedError as error:
            if file == _VENDOR_FILE:
                raise NotInitializedError(_not_found(error)) from None
            raise
        # The loader chose the file if there was only a name; it may be one that is open already.
        backend = _loaded.setdefault(backend.path, backend)
        _loaded[real] = backend
    _warn_of_version(backend)
    return backend


def _backend(real: str, name: str | None) -> Backend:
    try:
        return Backend(real, name)
    except NotInitializedError as error:
        # It was linked with libraries of ours; the loader finds those that are open already.
        if not any(f"{own}: cannot open" in error.detail for own in _MACHINE):
            raise
    for own in _MACHINE:
        ctypes.CDLL(os.path.join(os.path.dirname(_packaged("sim")), own))
    return Backend(real, name)


def open_raw(path: str) -> tuple[Any, Any]:
    """Return the cffi object with all types of the headers, and the library at `path` as cffi sees it."""
    with _lock:
        from pymluops._abi import ffi  # takes longer than everything else at import

        # By path, which messages of cffi then name; the loader gives back the library that is there
        # already.
        return ffi, ffi.dlopen(path, ffi.RTLD_NOW | ffi.RTLD_LOCAL)


def _prepare_simulator(backend: Backend) -> None:
    from pymluops import sim  # by far not every program needs it

    sim.read_environment(backend)


def _not_found(error: NotInitializedError) -> str:
    home = os.environ.get("NEUWARE_HOME")
    neuware = f"{home}/lib64 has no {_VENDOR_FILE}" if home else "NEUWARE_HOME is not set"
    return f"PYMLUOPS_MLU_LIBRARY is not set, {neuware}, and the loader says: {error.detail}"


def _warn_of_version(backend: Backend) -> None:
    version = backend.version or ""
    major = version.split(".")[0]
    if major.isdigit() and int(major) > 1:
        warnings.warn(f"{backend.path} has version {version} of the ABI, written for was 1.11.1", stacklevel=4)


def _info(name: str) -> BackendInfo:
    try:
        backend = load(name)
    except NotInitializedError as error:
        return BackendInfo(name, False, None, None, error.detail)
    return BackendInfo(name, True, backend.path, backend.version, None)
