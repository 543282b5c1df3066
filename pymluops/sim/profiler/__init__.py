"""Profiles: the work of launches on the simulated MLU, and an estimate of their time on a card.

`profiling` makes a `Profile`; ``docs/profile.md`` describes the time model.
"""

from pymluops.sim.profiler._figures import TimeModel
from pymluops.sim.profiler._launch import DirectionUse, IntrinsicUse, LaunchProfile, LineUse
from pymluops.sim.profiler._memory import Memory, memory_of
from pymluops.sim.profiler._profile import Profile, profiling
from pymluops.sim.profiler._read import ArrayUse, CoreUse, Site, Tally
from pymluops.sim.profiler._theory import Theory

__all__ = [
    "ArrayUse",
    "CoreUse",
    "DirectionUse",
    "IntrinsicUse",
    "LaunchProfile",
    "LineUse",
    "Memory",
    "Profile",
    "Site",
    "Tally",
    "Theory",
    "TimeModel",
    "memory_of",
    "profiling",
]
