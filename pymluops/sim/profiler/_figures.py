"""The figures of a card in the time model, from ``cards.toml``, with the source of each."""

from __future__ import annotations

import dataclasses
import math
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any

from pymluops._shown import shown
from pymluops.errors import BadParamError
from pymluops.sim._devices import DeviceModel
from pymluops.sim.toolchain import CARDS_FILE, cards

#: Where a figure of the caller is from.
GIVEN = "given"
GUESS = "guess"


@dataclasses.dataclass(frozen=True)
class TimeModel:
    """The figures that an estimate is made of.

    Attributes
    ----------
    clock_mhz : float
        Clock of the cores.
    bandwidth_gb_s, cluster_bandwidth_gb_s : float
        Of device memory: for the whole device, and the most for the cores of one cluster.
    off_chip_latency_ns : float
        From the start of a copy to or from device memory until its bytes flow.
    on_chip_latency_cycles, on_chip_bytes_per_cycle : float
        Of copies of one core between memories on chip.
    vector_bytes_per_cycle, vector_startup_cycles : float
        Of the vector unit of one core; the startup is that of each instruction.
    function_passes : float
        The time of a division, a root or a logarithm in units of the time of an addition.
    matrix_float_operations, matrix_half_operations, matrix_byte_operations : float
        Additions and multiplications of the matrix unit of one core in a cycle, for elements of 4,
        2 and 1 bytes.
    scalar_on_chip_cycles, scalar_off_chip_ns : float
        Of one scalar access.
    issue_cycles : float
        Of an instruction that a pipe takes over.
    barrier_cycles : float
        From the arrival of the last core until all go on.
    """

    clock_mhz: float
    bandwidth_gb_s: float
    cluster_bandwidth_gb_s: float
    off_chip_latency_ns: float
    on_chip_latency_cycles: float
    on_chip_bytes_per_cycle: float
    vector_bytes_per_cycle: float
    vector_startup_cycles: float
    function_passes: float
    matrix_float_operations: float
    matrix_half_operations: float
    matrix_byte_operations: float
    scalar_on_chip_cycles: float
    scalar_off_chip_ns: float
    issue_cycles: float
    barrier_cycles: float


NAMES = tuple(field.name for field in dataclasses.fields(TimeModel))


@cache
def _times() -> dict[str, dict[str, dict[str, Any]]]:
    times: dict[str, dict[str, dict[str, Any]]] = tomllib.loads(CARDS_FILE.read_text(encoding="utf-8"))["time"]
    return times


def figures_of(device: DeviceModel, given: Mapping[str, float] | None = None) -> tuple[TimeModel, dict[str, str]]:
    """Return the time model of a device, and where each figure is from.

    Parameters
    ----------
    device : DeviceModel
        Its clock and bandwidth are used; the other figures are those of the card with its
        architecture.
    given : mapping of str to float, optional
        Figures to use instead, by the names of `TimeModel`.

    Raises
    ------
    BadParamError
        If there is no such figure, or it is not greater than 0.
    """
    card = next((card for card in cards() if card["arch"] == device.arch), cards()[0])
    known = {**_times()["all"], **_times()[card["name"]]}
    values = {name: float(entry["value"]) for name, entry in known.items() if "value" in entry}
    sources = {name: str(entry["from"]) for name, entry in known.items()}
    for name in ("clock_mhz", "bandwidth_gb_s"):
        values[name] = float(getattr(device, name))
        if values[name] != card[name]:
            sources[name] = GIVEN
    for name, value in (given or {}).items():
        values[name] = _checked(name, value)
        sources[name] = GIVEN
    return TimeModel(**values), {name: sources[name] for name in NAMES}


def _checked(name: object, value: object) -> float:
    if name not in NAMES:
        raise BadParamError(f"profiling: figures: expected names out of {', '.join(NAMES)}, got {shown(name)}")
    number = float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
    if not 0 < number < 1e12:
        raise BadParamError(f"profiling: figures: {name}: expected a number greater than 0, got {shown(value)}")
    return number
