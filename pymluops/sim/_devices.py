"""The devices that can be simulated, and which one is."""

from __future__ import annotations

import dataclasses
import os
import stat
import tomllib
from pathlib import Path
from typing import Any, cast

from pymluops._core import Backend
from pymluops._shown import one_line, path_text, shortened, shown
from pymluops.errors import BadParamError
from pymluops.sim._library import done, from_c, last_error, simulator

_MOST_FILE_BYTES = 1 << 20


@dataclasses.dataclass(frozen=True)
class DeviceModel:
    """The figures of a simulated device.

    Parameters
    ----------
    name : str
        At most 31 characters.
    arch : int
        The value of ``__BANG_ARCH__``: 270, 290, 372 or 592.
    clusters, cores_per_cluster : int
        1 to 16 clusters of 1 to 4 cores, and a memory core each.
    nram_kib, wram_kib : int
        NRAM and WRAM of a core.
    sram_kib : int
        SRAM of a cluster.
    stack_kib : int
        Of a core: automatic variables, and variables declared ``__ldram__``.
    memory_mib : int
        Memory of the device, GDRAM.
    clock_mhz, bandwidth_gb_s : int
        The figures that kernels and host code can query; no result depends on them.
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


def devices() -> tuple[DeviceModel, ...]:
    """Return the models that have a name.

    Examples
    --------
    >>> [model.name for model in pymluops.sim.devices()]  # doctest: +SKIP
    ['MLU270', 'MLU290', 'MLU370-X8', 'MLU590']
    """
    return _known_models(simulator())


def device() -> DeviceModel:
    """Return the device that is simulated."""
    backend = simulator()
    model = backend.ffi.new("mlusimDeviceModel *")
    done(backend, "device", backend.lib.mlusimGetDevice(model))
    return from_c(DeviceModel, backend, model)


def set_device(device: str | os.PathLike[str] | DeviceModel | None) -> None:
    """Choose the device that is simulated.

    Parameters
    ----------
    device : str, os.PathLike, DeviceModel or None
        The name of one of `devices`, the path of a ``.toml`` file, or the figures. The file has the
        fields of `DeviceModel` as keys, and at most 1 MiB; missing figures come from the model that
        its key ``base`` names::

            name = "half a card"
            base = "MLU370-X8"
            clusters = 2

        None: as if none had been set. Then the device is the one that ``PYMLUOPS_SIM_DEVICE``
        names, else an MLU590, or the card of the architecture that a library or module was
        compiled for that is loaded from then on.

    Raises
    ------
    BadParamError
        If there is no such device, a figure is out of range, device memory, queues or notifiers
        exist, or another thread is using the device.

    Examples
    --------
    >>> pymluops.sim.set_device("MLU590")  # doctest: +SKIP
    """
    set_device_of(simulator(), device)


def prefer_card(backend: Backend, arch: int) -> str:
    """Have a device of this architecture, if it is free to change and nobody has set one.

    Returns
    -------
    str
        Empty, or why the device is one of another architecture.
    """
    return "" if backend.lib.mlusimPreferArch(arch) == 0 else last_error(backend)


def set_device_of(backend: Backend, device: object) -> None:
    if device is None:
        done(backend, "set_device", backend.lib.mlusimSetDevice(backend.ffi.NULL))
        return
    model, origin = _as_model(backend, device)
    _check_types(model, origin)
    described = backend.ffi.new("mlusimDeviceModel *")
    for field in dataclasses.fields(model):
        value = getattr(model, field.name)
        setattr(described, field.name, value.encode() if field.name == "name" else value)
    if backend.lib.mlusimSetDevice(described) != 0:
        reason = last_error(backend)
        field_name = reason.partition(":")[0]
        got = f", got {shown(getattr(model, field_name))}" if hasattr(model, field_name) else ""
        raise BadParamError(f"{origin}: {reason}{got}")


def _as_model(backend: Backend, device: object) -> tuple[DeviceModel, str]:
    """Return the figures, and where they are from for messages."""
    if isinstance(device, DeviceModel):
        return device, "set_device"
    if isinstance(device, os.PathLike) or (isinstance(device, str) and (device.endswith(".toml") or os.sep in device)):
        path = Path(os.fsdecode(cast("os.PathLike[str]", device)))
        return _read_toml(backend, path), path_text(path)
    known = {model.name.lower(): model for model in _known_models(backend)}
    if isinstance(device, str) and device.lower() in known:
        return known[device.lower()], "set_device"
    names = ", ".join(model.name for model in known.values())
    raise BadParamError(
        f"set_device: device: expected one of {names}, the path of a .toml file or a DeviceModel, got {shown(device)}"
    )


def _read_toml(backend: Backend, path: Path) -> DeviceModel:
    """Read a description of a device."""
    origin = path_text(path)
    try:
        given = tomllib.loads(_read_small_file(path).decode("utf-8"))
    except RecursionError:
        raise BadParamError(f"{origin}: expected TOML, got a text that is nested too deeply") from None
    except (OSError, ValueError) as error:  # ValueError: from the readers of TOML and UTF-8
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
    """Refuse figures that the C structure cannot hold; the library checks their ranges."""
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
        found.append(from_c(DeviceModel, backend, model))
    return tuple(found)
