"""The library of the simulator: which one is meant, its errors and its structures."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from pymluops._core import Backend, find_backend, get_default_backend
from pymluops.errors import BadParamError

_T = TypeVar("_T")


def simulator() -> Backend:
    default = get_default_backend()
    if default is not None and default.kind == "sim":
        return default
    return find_backend("sim")


def machine_of(backend: Backend) -> int:
    """Return a number for the machine behind a library: libraries in one process share it."""
    return int(backend.ffi.cast("uintptr_t", backend.ffi.addressof(backend.lib, "mlusimGetDevice")))


def done(backend: Backend, origin: str, status: int) -> None:
    if status != 0:
        raise BadParamError(f"{origin}: {last_error(backend)}")


def last_error(backend: Backend) -> str:
    """Return why the last call was refused, without the name of the C function."""
    return text(backend, backend.lib.mlusimGetLastError()).partition(": ")[2]


def text(backend: Backend, text: Any) -> str:
    return cast("bytes", backend.ffi.string(text)).decode("utf-8", "replace") if text else ""


def from_c(kind: type[_T], backend: Backend, described: Any) -> _T:
    """Return a structure as an object with the same fields."""
    values: dict[str, Any] = {}
    for name, field in backend.ffi.typeof(described).item.fields:
        value = getattr(described, name)
        values[name] = text(backend, value) if field.type.kind == "array" else value
    return kind(**values)
