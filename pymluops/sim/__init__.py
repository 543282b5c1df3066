"""The simulated MLU: its device, its checkers and their findings.

``pymluops.load("sim")`` runs the device kernels of this package on the host. The simulator watches
them: a finding ends the launch, the call or the wait for it raises `pymluops.ExecutionFailedError`,
whose message is the report and whose ``findings`` are the findings as data.

Four environment variables are read when the library is loaded: ``PYMLUOPS_SIM_DEVICE``, for
`set_device`, ``PYMLUOPS_SIM_CHECK``, for `set_checks`, ``PYMLUOPS_SIM_RULES``, for `set_rules`, and
``PYMLUOPS_SIM_SCHEDULE``, for `set_schedule`.

All functions are about the default backend if that is a simulator, else about
``pymluops.load("sim")``. Device, checkers and findings are those of the process, for all threads.
"""

from pymluops import _environment
from pymluops._core import Backend
from pymluops._finding import Finding
from pymluops.errors import MluOpError, NotInitializedError
from pymluops.sim._checks import checking, checks, set_checks, set_checks_of, set_time_limit, time_limit
from pymluops.sim._devices import DeviceModel, device, devices, set_device, set_device_of
from pymluops.sim._findings import (
    CoreState,
    Counters,
    clear_findings,
    core_states,
    counters,
    findings,
    report,
)
from pymluops.sim._neuware import neuware
from pymluops.sim._rules import Rule, rules, set_rules, set_rules_of
from pymluops.sim._schedules import Schedule, schedule, scheduling, set_schedule, set_schedule_of
from pymluops.sim.profiler import LaunchProfile, Memory, Profile, profiling

__all__ = [
    "CoreState",
    "Counters",
    "DeviceModel",
    "Finding",
    "LaunchProfile",
    "Memory",
    "Profile",
    "Rule",
    "Schedule",
    "checking",
    "checks",
    "clear_findings",
    "core_states",
    "counters",
    "device",
    "devices",
    "findings",
    "neuware",
    "profiling",
    "report",
    "rules",
    "schedule",
    "scheduling",
    "set_checks",
    "set_device",
    "set_rules",
    "set_schedule",
    "set_time_limit",
    "time_limit",
]


def read_environment(backend: Backend) -> None:
    """Apply the environment's settings to a simulator that was just loaded.

    Raises
    ------
    NotInitializedError
        If a variable cannot be followed.
    """
    for variable, follow in (
        ("PYMLUOPS_SIM_DEVICE", set_device_of),
        ("PYMLUOPS_SIM_CHECK", set_checks_of),
        ("PYMLUOPS_SIM_RULES", set_rules_of),
        ("PYMLUOPS_SIM_SCHEDULE", set_schedule_of),
    ):
        value = _environment.text(variable)
        if value is None:
            continue
        try:
            follow(backend, value)
        except MluOpError as error:
            raise NotInitializedError(f"{variable} is {_environment.text_shown(value)}: {error.detail}") from None
