"""The simulated MLU: which device it is, its checkers, and what they found.

``pymluops.load("sim")`` runs the device kernels of this package on the host. The simulator watches them: a finding ends
the launch, the call or the wait for it raises `pymluops.ExecutionFailedError`, whose message is the report and whose
``findings`` are the findings as data.

Two environment variables are read when the library is loaded: ``PYMLUOPS_SIM_DEVICE``, for `set_device`, and
``PYMLUOPS_SIM_CHECK``, for `set_checks`.

All functions are about the default backend if that is a simulator, else about ``pymluops.load("sim")``. Device,
checkers and findings are those of the process, for all threads.
"""

from __future__ import annotations

import dataclasses
import os
import stat
import tomllib
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

from pymluops import _environment, library
from pymluops._core import Backend, get_default_backend, register_simulator
from pymluops._shown import one_line, shortened, shown
from pymluops.errors import BadParamError, MluOpError, NotInitializedError

__all__ = [
    "Counters",
    "DeviceModel",
    "Finding",
    "checking",
    "checks",
    "clear_findings",
    "counters",
    "device",
    "devices",
    "findings",
    "report",
    "set_checks",
    "set_device",
    "set_time_limit",
    "time_limit",
]

#: What `set_checks` takes: names in a text with commas or one by one, ``"all"``, ``"none"`` or None.
Checks: TypeAlias = "str | Iterable[str] | None"

_T = TypeVar("_T")

_CHECK_PREFIX = "MLUSIM_CHECK_"
_MOST_FILE_BYTES = 1 << 20
#: By path of the library: how many of its findings were given out with exceptions.
_reported: dict[str, int] = {}


@dataclasses.dataclass(frozen=True)
class DeviceModel:
    """The figures of a simulated device.

    Parameters
    ----------
    name : str
        At most 31 characters.
    arch : int
        What ``__BANG_ARCH__`` is: 270, 290, 372 or 592.
    clusters, cores_per_cluster : int
        1 to 16 clusters of 1 to 4 cores, and a memory core each.
    nram_kib, wram_kib : int
        NRAM and WRAM of a core.
    sram_kib : int
        SRAM of a cluster.
    stack_kib : int
        Of a core: automatic variables, and what is declared ``__ldram__``.
    memory_mib : int
        Memory of the device, GDRAM.
    clock_mhz, bandwidth_gb_s : int
        What kernels and host code are told; no result depends on them.
    """

    name: str
    arch: int
    clusters: int
    cores_per_cluster: int
    nram_kib: int
    wram_kib: int
    sram_kib: int
    stack_kib: int
    memory_mib: int
    clock_mhz: int
    bandwidth_gb_s: int


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that a checker, or the machine itself, found in a kernel.

    Attributes
    ----------
    checker : str
        ``memory``, ``init``, ``race``, ``sync``, ``align``, or ``machine`` for what ends any launch.
    rule : str
        Which of its rules was broken, for example ``out-of-bounds``.
    kernel : str
        As written at the launch.
    file, line : str, int
        Place in the source; empty and 0 if unknown.
    other_file, other_line : str, int
        A second place: the other access of a race, for example; empty and 0 if there is none.
    task, cluster, core : int
        taskId, clusterId and coreId; the memory core is 0x80.
    space : str
        Kind of memory: GDRAM, NRAM, WRAM, SRAM, LDRAM or host; empty if no address is concerned.
    address, size : int
        The bytes concerned.
    allocation : str
        The allocation or array that the address belongs to or lies next to.
    message : str
        One sentence.
    count : int
        How often it happened at this place in this launch.
    """

    checker: str
    rule: str
    kernel: str
    file: str
    line: int
    other_file: str
    other_line: int
    task: int
    cluster: int
    core: int
    space: str
    address: int
    size: int
    allocation: str
    message: str
    count: int

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.file else ""
        text = f"{place}{self.checker}: {self.rule}: {self.message}"
        if not self.kernel:
            return text
        return f"{text} ({self.kernel}, task {self.task}, cluster {self.cluster}, core {self.core:#x})"


class Counters(NamedTuple):
    """What the simulator did since the process started, and what is alive now."""

    launches: int
    failed_launches: int
    tasks: int
    live_allocations: int
    live_bytes: int
    live_queues: int
    live_notifiers: int


# ---- Devices ---------------------------------------------------------------------------------------------------------


def devices() -> tuple[DeviceModel, ...]:
    """Return the models that have a name.

    Examples
    --------
    >>> [model.name for model in pymluops.sim.devices()]  # doctest: +SKIP
    ['MLU270', 'MLU290', 'MLU370-X8', 'MLU590']
    """
    return _known_models(_simulator())


def device() -> DeviceModel:
    """Return the device that is simulated."""
    backend = _simulator()
    model = backend.ffi.new("mlusimDeviceModel *")
    _done(backend, "device", backend.lib.mlusimGetDevice(model))
    return _from_c(DeviceModel, backend, model)


def set_device(device: str | os.PathLike[str] | DeviceModel) -> None:
    """Choose the device that is simulated.

    Parameters
    ----------
    device : str, os.PathLike or DeviceModel
        The name of one of `devices`, the path of a ``.toml`` file, or the figures. The file has the fields of
        `DeviceModel` as keys, and at most 1 MiB; what is missing is taken from the model that its key ``base`` names::

            name = "half a card"
            base = "MLU370-X8"
            clusters = 2

    Raises
    ------
    BadParamError
        If there is no such device, a figure is out of range, device memory, queues or notifiers exist, or another
        thread is using the device.

    Examples
    --------
    >>> pymluops.sim.set_device("MLU590")  # doctest: +SKIP
    """
    _set_device(_simulator(), device)


def _set_device(backend: Backend, device: object) -> None:
    model, origin = _as_model(backend, device)
    _check_types(model, origin)
    described = backend.ffi.new("mlusimDeviceModel *")
    for field in dataclasses.fields(model):
        value = getattr(model, field.name)
        setattr(described, field.name, value.encode() if field.name == "name" else value)
    if backend.lib.mlusimSetDevice(described) != 0:
        reason = _last_error(backend)
        field_name = reason.partition(":")[0]
        got = f", got {shown(getattr(model, field_name))}" if hasattr(model, field_name) else ""
        raise BadParamError(f"{origin}: {reason}{got}")


def _as_model(backend: Backend, device: object) -> tuple[DeviceModel, str]:
    """Return the figures, and where they are from for messages."""
    if isinstance(device, DeviceModel):
        return device, "set_device"
    if isinstance(device, os.PathLike) or (isinstance(device, str) and (device.endswith(".toml") or os.sep in device)):
        path = Path(os.fsdecode(cast("os.PathLike[str]", device)))
        return _read_toml(backend, path), shortened(one_line(str(path)))
    known = {model.name.lower(): model for model in _known_models(backend)}
    if isinstance(device, str) and device.lower() in known:
        return known[device.lower()], "set_device"
    names = ", ".join(model.name for model in known.values())
    raise BadParamError(
        f"set_device: device: expected one of {names}, the path of a .toml file or a DeviceModel, got {shown(device)}"
    )


def _read_toml(backend: Backend, path: Path) -> DeviceModel:
    """Read a description of a device."""
    origin = shortened(one_line(str(path)))
    try:
        given = tomllib.loads(_read_small_file(path).decode("utf-8"))
    except RecursionError:
        raise BadParamError(f"{origin}: expected TOML, got what is nested too deeply") from None
    except (OSError, ValueError) as error:  # ValueError: what TOML and UTF-8 say
        raise BadParamError(
            f"{origin}: {shortened(one_line(str(getattr(error, 'strerror', None) or error)))}"
        ) from None
    figures: dict[str, Any] = {}
    if "base" in given:
        base = given.pop("base")
        models = {model.name: model for model in _known_models(backend)}
        if not isinstance(base, str) or base not in models:
            raise BadParamError(f"{origin}: base: expected one of {', '.join(models)}, got {shown(base)}")
        figures = dataclasses.asdict(models[base])
    fields = [field.name for field in dataclasses.fields(DeviceModel)]
    for key in given:
        if key not in fields:
            raise BadParamError(f"{origin}: {shortened(one_line(key))}: expected only base, {', '.join(fields)}")
    figures |= given
    for key in fields:
        if key not in figures:
            raise BadParamError(f'{origin}: {key}: expected a value, or base = "..." to take it from, got none')
    return DeviceModel(**figures)


def _read_small_file(path: Path) -> bytes:
    """Return the contents of a regular file; others, such as pipes and devices, may never end."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("expected a regular file, got something else")
    with path.open("rb") as file:
        contents = file.read(_MOST_FILE_BYTES + 1)
    if len(contents) > _MOST_FILE_BYTES:
        raise ValueError(f"expected at most {_MOST_FILE_BYTES} bytes, got more")
    return contents


def _check_types(model: DeviceModel, origin: str) -> None:
    """Refuse what the C structure cannot hold; what the figures may be the library knows."""
    for field in dataclasses.fields(model):
        value = getattr(model, field.name)
        if field.name == "name":
            if not isinstance(value, str) or not value.isprintable() or not 1 <= len(value.encode()) <= 31:
                raise BadParamError(f"{origin}: name: expected a text of 1 to 31 characters, got {shown(value)}")
        elif isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
            raise BadParamError(
                f"{origin}: {field.name}: expected an integer from 0 to {2**31 - 1}, got {shown(value)}"
            )


def _known_models(backend: Backend) -> tuple[DeviceModel, ...]:
    model = backend.ffi.new("mlusimDeviceModel *")
    found: list[DeviceModel] = []
    while backend.lib.mlusimGetKnownModel(len(found), model) == 0:
        found.append(_from_c(DeviceModel, backend, model))
    return tuple(found)


# ---- Checkers --------------------------------------------------------------------------------------------------------


def checks() -> tuple[str, ...]:
    """Return the names of the checkers that watch kernels now."""
    backend = _simulator()
    mask = int(backend.lib.mlusimGetChecks())
    return tuple(name for name, bit in _check_bits(backend).items() if mask & bit)


def set_checks(checks: Checks) -> None:
    """Choose the checkers that watch the launches from now on.

    Parameters
    ----------
    checks : str, iterable of str or None
        ``memory``, ``init``, ``race``, ``sync``, ``align``, with commas between them or as a list; or ``all``; or
        ``none``, which None and nothing at all mean too.

    Raises
    ------
    BadParamError
        If there is no checker of that name.

    Examples
    --------
    >>> pymluops.sim.set_checks("memory,init")  # doctest: +SKIP
    >>> pymluops.sim.checks()  # doctest: +SKIP
    ('memory', 'init')
    """
    _set_checks(_simulator(), checks)


@contextmanager
def checking(checks: Checks = "all") -> Generator[None]:
    """Choose the checkers until the block ends.

    Parameters
    ----------
    checks : str, iterable of str or None
        As for `set_checks`.

    Examples
    --------
    >>> with pymluops.sim.checking("all"):  # doctest: +SKIP
    ...     pymluops.tin_shift_forward(frames, shifts)
    """
    backend = _simulator()
    before = backend.lib.mlusimGetChecks()
    _set_checks(backend, checks)
    try:
        yield
    finally:
        _done(backend, "set_checks", backend.lib.mlusimSetChecks(before))


def _set_checks(backend: Backend, checks: Checks) -> None:
    bits = _check_bits(backend)
    if isinstance(checks, str):
        names = [name.strip() for name in checks.split(",") if name.strip()]
    else:
        names = [] if checks is None else list(checks)
    mask = 0
    for name in names:
        if name == "all":
            mask |= sum(bits.values())
        elif name in bits:
            mask |= bits[name]
        elif name != "none" or len(names) != 1:
            raise BadParamError(
                f"set_checks: checks: expected names out of {', '.join(bits)}, or all, or none alone, got {shown(name)}"
            )
    _done(backend, "set_checks", backend.lib.mlusimSetChecks(mask))


def _check_bits(backend: Backend) -> dict[str, int]:
    """Return the bit of every checker by its name; they are declared in mlusim.h."""
    declared: dict[str, int] = backend.ffi.typeof("mlusimCheck_t").relements
    names = {name.removeprefix(_CHECK_PREFIX).lower(): bit for name, bit in declared.items()}
    return {name: bit for name, bit in sorted(names.items(), key=lambda item: item[1]) if name != "all"}


def time_limit() -> float:
    """Return the seconds that one launch may take before it is ended; 0: no limit."""
    return float(_simulator().lib.mlusimGetTimeLimit())


def set_time_limit(seconds: float) -> None:
    """Set the seconds that one launch may take before it is ended.

    Parameters
    ----------
    seconds : float
        At least 0; 0: no limit.

    Raises
    ------
    BadParamError
        If it is anything else.
    """
    backend = _simulator()
    if not 0 <= seconds < float("inf"):
        raise BadParamError(f"set_time_limit: seconds: expected a number >= 0, got {shown(seconds)}")
    _done(backend, "set_time_limit", backend.lib.mlusimSetTimeLimit(seconds))


# ---- What was found --------------------------------------------------------------------------------------------------


def findings() -> list[Finding]:
    """Return the findings of all launches since `clear_findings`, oldest first."""
    backend = _simulator()
    return _findings_from(backend, 0)


def clear_findings() -> None:
    """Forget all findings."""
    backend = _simulator()
    backend.lib.mlusimClearFindings()
    _reported.pop(backend.path, None)


def report() -> str:
    """Return the report about the launch that failed last, for people; empty if none failed."""
    return _report(_simulator())


def counters() -> Counters:
    """Return what the simulator did since the process started, and what is alive now."""
    backend = _simulator()
    counted = backend.ffi.new("mlusimCounters *")
    _done(backend, "counters", backend.lib.mlusimGetCounters(counted))
    return _from_c(Counters, backend, counted)


def take_failure(backend: Backend) -> tuple[str, tuple[Finding, ...]]:
    """Return report and findings that no exception has carried yet; for one that is about to be raised."""
    start = _reported.get(backend.path, 0)
    if start > backend.lib.mlusimGetFindingCount():  # cleared by somebody else
        start = 0
    found = _findings_from(backend, start)
    _reported[backend.path] = start + len(found)
    # The report is about a launch; what the host did wrong belongs to none.
    of_launches = tuple(finding for finding in found if finding.kernel)
    return (_report(backend), of_launches) if of_launches else ("\n".join(map(str, found)), tuple(found))


register_simulator(take_failure)


def _findings_from(backend: Backend, start: int) -> list[Finding]:
    described = backend.ffi.new("mlusimFinding *")
    found: list[Finding] = []
    while backend.lib.mlusimGetFinding(start + len(found), described) == 0:
        found.append(_from_c(Finding, backend, described))
    return found


def _report(backend: Backend) -> str:
    return _text(backend, backend.lib.mlusimGetReport())


# ---- The library -----------------------------------------------------------------------------------------------------


def read_environment(backend: Backend) -> None:
    """Do what the environment says about a simulator that was loaded just now."""
    for variable, follow in (("PYMLUOPS_SIM_DEVICE", _set_device), ("PYMLUOPS_SIM_CHECK", _set_checks)):
        value = _environment.text(variable)
        if value is None:
            continue
        try:
            follow(backend, value)
        except MluOpError as error:
            raise NotInitializedError(f"{variable} is {_environment.text_shown(value)}: {error.detail}") from None


def _simulator() -> Backend:
    default = get_default_backend()
    if default is not None and default.kind == "sim":
        return default
    return library.load("sim")


def _done(backend: Backend, origin: str, status: int) -> None:
    if status != 0:
        raise BadParamError(f"{origin}: {_last_error(backend)}")


def _last_error(backend: Backend) -> str:
    """Return why the last call was refused, without the name of the C function."""
    return _text(backend, backend.lib.mlusimGetLastError()).partition(": ")[2]


def _text(backend: Backend, text: Any) -> str:
    return cast("bytes", backend.ffi.string(text)).decode("utf-8", "replace") if text else ""


def _from_c(kind: type[_T], backend: Backend, described: Any) -> _T:
    """Return a structure as an object with the same fields."""
    values: dict[str, Any] = {}
    for name, field in backend.ffi.typeof(described).item.fields:
        value = getattr(described, name)
        values[name] = _text(backend, value) if field.type.kind == "array" else value
    return kind(**values)
