"""Which checkers watch kernels, and how long a kernel may take."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import TypeAlias, cast

from pymluops._core import Backend
from pymluops._shown import one_line, shortened, shown
from pymluops.errors import BadParamError
from pymluops.sim._library import done, last_error, simulator
from pymluops.sim._rules import Rules, rules_of, set_rules_of, text_of_rules

#: The checkers for `set_checks`: names in a text with commas or one by one, ``"all"``, ``"none"``
#: or None.
Checks: TypeAlias = "str | Iterable[str] | None"

_PREFIX = "MLUSIM_CHECK_"


def checks() -> tuple[str, ...]:
    """Return the names of the checkers that watch kernels now."""
    backend = simulator()
    mask = int(backend.lib.mlusimGetChecks())
    return tuple(name for name, bit in _bits(backend).items() if mask & bit)


def set_checks(checks: Checks) -> None:
    """Choose the checkers that watch the launches from now on.

    Parameters
    ----------
    checks : str, iterable of str or None
        ``memory``, ``init``, ``race``, ``sync``, ``align``, with commas between them or as a list;
        or ``all``; or ``none``, which None and nothing at all mean too.

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
    set_checks_of(simulator(), checks)


@contextmanager
def checking(checks: Checks = "all", rules: Rules = None) -> Generator[None]:
    """Choose the checkers and the actions of their rules until the block ends.

    Parameters
    ----------
    checks : str, iterable of str or None
        As for `set_checks`.
    rules : mapping, str or None
        As for `set_rules`; None leaves them as they are.

    Raises
    ------
    BadParamError
        If there is no checker, rule or action of a name.

    Examples
    --------
    >>> with pymluops.sim.checking("all"):  # doctest: +SKIP
    ...     pymluops.tin_shift_forward(frames, shifts)
    >>> with pymluops.sim.checking("all", {"all": "record"}):  # doctest: +SKIP
    ...     pymluops.tin_shift_forward(frames, shifts)  # fails for nothing that a checker finds
    """
    backend = simulator()
    before = backend.lib.mlusimGetChecks()
    rules_before = rules_of(backend)
    if rules is not None:
        set_rules_of(backend, rules)
    try:
        set_checks_of(backend, checks)
        yield
    finally:
        done(backend, "set_checks", backend.lib.mlusimSetChecks(before))
        set_rules_of(backend, {rule.name: rule.action for rule in rules_before})


@contextmanager
def recording(backend: Backend, checks: Checks, rules: Rules) -> Generator[frozenset[str]]:
    """Record findings that would let launches fail, until the block ends; gives the names of their rules.

    Parameters
    ----------
    backend : Backend
        The simulator.
    checks : str, iterable of str or None
        The checkers, as for `set_checks`.
    rules : mapping, str or None
        Further actions of rules, as for `set_rules`; other rules keep their actions.
    """
    before, rules_before = backend.lib.mlusimGetChecks(), rules_of(backend)
    try:
        if rules is not None:
            present = ",".join(f"{rule.name}={rule.action}" for rule in rules_before)
            set_rules_of(backend, f"{present},{text_of_rules(rules)}")
        actions = {rule.name: rule.action for rule in rules_of(backend)}
        set_rules_of(backend, {name: "record" if action == "fail" else action for name, action in actions.items()})
        set_checks_of(backend, checks)
        yield frozenset(name for name, action in actions.items() if action == "fail")
    finally:
        done(backend, "set_checks", backend.lib.mlusimSetChecks(before))
        set_rules_of(backend, {rule.name: rule.action for rule in rules_before})


def set_checks_of(backend: Backend, checks: Checks) -> None:
    """Choose the checkers of one library, which knows their names."""
    chosen = checks if isinstance(checks, str) else ",".join(_names(backend, checks))
    if "\0" in chosen:
        raise _refusal(backend, chosen)
    status = backend.lib.mlusimSetChecksByName(chosen.encode("utf-8", "surrogateescape"))
    if status != 0:
        raise BadParamError(f"set_checks: {shortened(one_line(last_error(backend)), 200)}")


def _names(backend: Backend, checks: Iterable[str] | None) -> list[str]:
    names: list[object] = [] if checks is None else list(checks)
    for name in names:
        if not isinstance(name, str) or "," in name:
            raise _refusal(backend, name)
    return cast("list[str]", names)


def _refusal(backend: Backend, name: object) -> BadParamError:
    return BadParamError(
        f"set_checks: checks: expected names out of {', '.join(_bits(backend))}, or all, or none alone, "
        f"got {shown(name)}"
    )


def _bits(backend: Backend) -> dict[str, int]:
    """Return the bit of every checker by its name; they are declared in mlusim.h."""
    declared: dict[str, int] = backend.ffi.typeof("mlusimCheck_t").relements
    names = {name.removeprefix(_PREFIX).lower(): bit for name, bit in declared.items()}
    return {name: bit for name, bit in sorted(names.items(), key=lambda item: item[1]) if name != "all"}


def time_limit() -> float:
    """Return the seconds that one launch may take before it is ended; 0: no limit."""
    return float(simulator().lib.mlusimGetTimeLimit())


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
    backend = simulator()
    if not 0 <= seconds < float("inf"):
        raise BadParamError(f"set_time_limit: seconds: expected a number >= 0, got {shown(seconds)}")
    done(backend, "set_time_limit", backend.lib.mlusimSetTimeLimit(seconds))
