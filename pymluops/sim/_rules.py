"""The rules that findings belong to, and the actions for broken ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from pymluops._core import Backend
from pymluops._shown import one_line, shortened, shown
from pymluops.errors import BadParamError
from pymluops.sim._library import from_c, last_error, simulator

#: The argument of `set_rules`: actions by rule, or the same as a text,
#: ``"race/on-chip-order=off,init=record"``.
Rules: TypeAlias = "Mapping[str, str] | str | None"


class Rule(NamedTuple):
    """A rule of a checker, or of the machine itself, for kernels.

    Attributes
    ----------
    name : str
        Checker and rule, for example ``race/between-cores``. It stays the same from release to
        release.
    severity : str
        ``error``; ``warning`` if known devices behave as the kernel expects, although no guide
        promises it; ``remark`` if it is harmless.
    action : str
        The current action when it is broken: ``off``, ``record`` or ``fail``.
    meaning : str
        A phrase about the violation.
    """

    name: str
    severity: str
    action: str
    meaning: str


def rules() -> list[Rule]:
    """Return all rules, with their current actions."""
    return rules_of(simulator())


def set_rules(rules: Rules) -> None:
    """Set the actions for broken rules from now on.

    Parameters
    ----------
    rules : mapping, str or None
        Actions by the name of a rule (``race/between-cores``), of a checker for all of its rules,
        or by ``all``; later ones win. A text has the same,
        ``"race/between-cores=off,init=record"``. Other rules keep their usual action, and None
        restores the usual action of all. The actions:

        ``off``
            Nothing is reported.
        ``record``
            The finding is kept, see `findings`. The launch goes on and does not fail for it.
        ``fail``
            The launch fails.

        Some findings end a launch in any case: rules of the machine, deadlocks, and operands that
        an intrinsic cannot work on.

    Raises
    ------
    BadParamError
        If there is no rule, checker or action of a name.

    Examples
    --------
    >>> pymluops.sim.set_rules({"race/on-chip-order": "off", "init": "record"})  # doctest: +SKIP
    """
    set_rules_of(simulator(), rules)


def rules_of(backend: Backend) -> list[Rule]:
    """Return the rules of one library."""
    described = backend.ffi.new("mlusimRule *")
    found: list[Rule] = []
    while backend.lib.mlusimGetRule(len(found), described) == 0:
        found.append(from_c(Rule, backend, described))
    return found


def set_rules_of(backend: Backend, rules: Rules) -> None:
    """Set the actions of rules in one library, which knows their names."""
    text = text_of_rules(rules)
    status = backend.lib.mlusimSetRules(text.encode("utf-8", "surrogateescape"))
    if status != 0:
        raise BadParamError(f"set_rules: {shortened(one_line(last_error(backend)), 300)}")


def text_of_rules(rules: Rules) -> str:
    """Return the words for the library."""
    text = rules if isinstance(rules, str) else ",".join(_words(rules))
    if "\0" in text:
        raise _refusal(text)
    return text


def _words(rules: Mapping[str, str] | None) -> list[str]:
    words: list[str] = []
    for rule, action in (rules or {}).items():
        pair: list[object] = [rule, action]
        for word in pair:
            if not isinstance(word, str) or not word.strip() or "," in word or "=" in word:
                raise _refusal(word)
        words.append(f"{rule}={action}")
    return words


def _refusal(word: object) -> BadParamError:
    return BadParamError(
        f"set_rules: rules: expected names of rules or checkers with off, record or fail, got {shown(word)}"
    )
