"""The names of cards, checkers and rules in options and markers of the plugin for pytest."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

import pymluops
from pymluops import _suggestions, sim
from pymluops.errors import BadParamError
from pymluops.sim.toolchain import cards


def check_options(config: pytest.Config) -> None:
    """Refuse options with names that there are not, before any test runs.

    Raises
    ------
    pytest.UsageError
        If an option names an unknown card, checker, rule or action.
    """
    _cards("--mlu-cards", str(config.getoption("--mlu-cards")).split(","))
    checks, rules = str(config.getoption("--mlu-check")), str(config.getoption("--mlu-rules"))
    if checks == "all" and not rules:
        return  # without a load of the simulator
    with pymluops.use("sim"):
        for option, words, checkers, actions in (
            ("--mlu-check", checks, checks, None),
            ("--mlu-rules", rules, "all", rules or None),
        ):
            try:
                with sim.checking(checkers, actions):
                    pass
            except BadParamError as error:
                known = (word for rule in sim.rules() for word in (rule.name, rule.name.partition("/")[0]))
                hint = _suggestions.among(words.split(","), known)
                raise pytest.UsageError(f"{option}={words}: {error.detail}{hint}") from error


def cards_of(item: pytest.Function, config: pytest.Config) -> list[str]:
    """Return the cards that a test runs on.

    Raises
    ------
    pytest.UsageError
        If the marker names an unknown card.
    """
    marker = item.get_closest_marker("mlu_cards")
    if marker is None:
        return _cards("--mlu-cards", str(config.getoption("--mlu-cards")).split(","))
    return _cards(f"{item.name}: mlu_cards", marker.args)


def rules_of(item: pytest.Item) -> tuple[str, ...]:
    """Return the rules that a test expects to be broken.

    Raises
    ------
    pytest.UsageError
        If the marker names an unknown rule.
    """
    marker = item.get_closest_marker("mlu_finds")
    if marker is None:
        return ()
    with pymluops.use("sim"):
        known = {rule.name for rule in sim.rules()}
    for name in marker.args:
        if name not in known:
            hint = _suggestions.among([str(name)], sorted(known)) or f"; the rules: {', '.join(sorted(known))}"
            raise pytest.UsageError(
                f"{item.name}: mlu_finds: expected names of rules such as race/copy-in-flight, got {name!r}{hint}"
            )
    return marker.args


def _cards(source: str, wanted: Iterable[object]) -> list[str]:
    """Return the names of cards as the table writes them; `source` says where the words come from."""
    known = {card["name"].lower(): card["name"] for card in cards()}
    words = [str(name).strip() for name in wanted]
    if words == ["all"]:
        return list(known.values())
    for word in words:
        if word.lower() not in known:
            hint = _suggestions.among([word.upper()], known.values())
            raise pytest.UsageError(
                f"{source}: expected names out of {', '.join(known.values())}, or all, got {word!r}{hint}"
            )
    return [known[word.lower()] for word in words]
