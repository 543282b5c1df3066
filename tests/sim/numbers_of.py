"""The numbers of enumerators and macros in a header of the simulator."""

from __future__ import annotations

import re
from types import SimpleNamespace

from pymluops.sim.toolchain import Simulator


def numbers_of(header: str) -> SimpleNamespace:
    """All names with numbers, as attributes."""
    text = (Simulator.installed().include / header).read_text(encoding="utf-8")
    found = re.findall(r"^\s*(?:#define )?(\w+)(?: =)? (\d+),?(?: /\*.*)?$", text, re.MULTILINE)
    return SimpleNamespace(**{name: int(number) for name, number in found})
