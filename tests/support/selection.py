"""Which tests run: a quick selection by default, all of them with ``--thorough``.

These keep the quick selection short:

``@pytest.mark.thorough``
    This test, or this parameter, runs with ``--thorough`` only.
``@pytest.mark.sampled("op", "ctype")``
    Of a parametrised test, tests are chosen until each value of each named parameter occurs in one
    of them; with no name, one test. A name may be that of an attribute: ``"case.family"``.
    `together=True` asks for each combination of the named values that there is.
``examples(count)``
    A property test gets `count` examples with ``--thorough`` and a share of them otherwise.
``@pytest.mark.turn(4)``
    Of ``--share 5/6`` this test, or this parameter, is a part: so few long tests are spread evenly.
    Without the mark a checksum of the name decides.
families, tests that compile
    Families of operators that changed run whole, of the others a few tests, and so it is with tests
    that compile (tests/support/quick_selection.py). Of files and folders that are given on the
    command line all families run whole.

``--beyond-quick`` runs what is left to do after the quick selection has run without optional
packages: tests that it leaves out, property tests, which get all of their examples, and files of
which something is skipped where a package or a program is missing. ``--share 2/3`` takes the second
third of it, but all of what may have been skipped; without ``--beyond-quick`` it takes the second
third of the quick selection, with whole families.

The choice is the same in every run and every process of one tree: tests are tried in the order of a
checksum of their names, so that values of parameters that are not named are mixed. A test whose
name is given on the command line always runs.
"""

from __future__ import annotations

import argparse
import functools
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import hypothesis
import pytest

from support import quick_selection

#: max_examples of the profiles, of which :func:`examples` takes its share.
THOROUGH_EXAMPLES, QUICK_EXAMPLES = 100, 10
LEAST_EXAMPLES = 5

_state = {"thorough": False}

#: A file with one of these skips tests on some machines.
SKIPS = ("importorskip(", "skipif(", "pytest.skip(")


def examples(count: int) -> hypothesis.settings:
    """The settings of a property test that is to try `count` examples with ``--thorough``, and fewer without."""
    share = hypothesis.settings.default.max_examples / THOROUGH_EXAMPLES
    return hypothesis.settings(max_examples=min(count, max(round(count * share), LEAST_EXAMPLES)))


def is_thorough() -> bool:
    """Whether all tests run. Known before test modules are imported."""
    return _state["thorough"]


def add_option(parser: pytest.Parser) -> None:
    parser.addoption(
        "--thorough",
        action="store_true",
        help="run all tests, with all examples of property tests; the default is a quick selection",
    )
    parser.addoption(
        "--beyond-quick",
        action="store_true",
        help="like --thorough, without the tests that have passed if the quick selection has",
    )
    parser.addoption(
        "--share",
        metavar="K/N",
        type=_share,
        help="the K-th of N parts of the quick selection; of --beyond-quick, but then all that may be skipped",
    )


def _share(text: str) -> tuple[int, int]:
    """Read ``K/N``."""
    part, slash, parts = text.partition("/")
    if not (slash and part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"expected K/N with 1 <= K <= N, such as 2/3, got {text!r}")
    return int(part), int(parts)


def configure(config: pytest.Config) -> None:
    """Read the options."""
    _state["thorough"] = bool(config.getoption("--thorough") or config.getoption("--beyond-quick"))


def deselect(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take out of `items` what the options do not ask for."""
    if config.getoption("--thorough"):
        return
    left_out = beyond_quick(config, items)
    part, parts = config.getoption("--share") or (1, 1)

    def in_share(item: pytest.Item) -> bool:
        mark = item.get_closest_marker("turn")
        number = mark.args[0] if mark else zlib.crc32(item.nodeid.encode())
        return bool(number % parts == part - 1)

    if config.getoption("--beyond-quick"):

        def runs(item: pytest.Item) -> bool:
            if item not in left_out and _may_skip(item.path):
                return True
            has_more = item in left_out or getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
            return has_more and in_share(item)

        left_out = {item for item in items if not runs(item)}
    elif parts > 1:
        left_out |= {item for item in items if not in_share(item)}
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


@functools.cache
def _may_skip(file: Path) -> bool:
    return any(word in file.read_text(encoding="utf-8") for word in SKIPS)


def beyond_quick(config: pytest.Config, items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """Return the tests that are for ``--thorough``."""
    named = [_named(config, argument) for argument in config.args if "::" in argument]
    sampled: dict[str, list[pytest.Item]] = {}
    left_out: set[pytest.Item] = set()
    for item in items:
        if _is_named(item, named):
            continue
        if item.get_closest_marker("thorough"):
            left_out.add(item)
        elif item.get_closest_marker("sampled"):
            sampled.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for candidates in sampled.values():
        left_out |= set(candidates) - sample(candidates)
    if not _has_paths(config) and (config.getoption("--beyond-quick") or not config.getoption("--share")):
        rest = [item for item in items if item not in left_out and not _is_named(item, named)]
        left_out |= quick_selection.left_out(rest, _operators())
    return left_out


def _has_paths(config: pytest.Config) -> bool:
    """Whether the command line names files or folders; a process of pytest-xdist gets the default ones too."""
    folder, paths = config.invocation_params.dir, config.getini("testpaths") or ["."]
    default = [{(start / path).resolve() for path in paths} for start in (config.rootpath, folder)]
    return {(folder / path.partition("::")[0]).resolve() for path in config.args} not in default


@functools.cache
def _operators() -> Mapping[str, Mapping[str, str]]:
    """The names of Python and of C of each family's operators."""
    from support import families

    return {
        family: {name: families.OPERATORS[name].function for name in families.operators(family)}
        for family in families.FAMILIES
    }


def _named(config: pytest.Config, argument: str) -> tuple[Path, str]:
    """File and name of a test of the command line."""
    file, _, name = argument.partition("::")
    return (config.invocation_params.dir / file).resolve(), name


def _is_named(item: pytest.Item, named: Iterable[tuple[Path, str]]) -> bool:
    """Whether the command line asks for this very test, or for the function or class that it belongs to."""
    own = item.nodeid.partition("::")[2]
    return any(item.path == path and (own == name or own.startswith((f"{name}[", f"{name}::"))) for path, name in named)


def sample(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """Tests of one function in which each value that its marker asks for occurs."""
    seen: set[tuple[str, ...]] = set()
    chosen: set[pytest.Item] = set()
    for item in sorted(items, key=lambda item: zlib.crc32(item.nodeid.encode())):
        wanted = _values(item)
        if not wanted <= seen:
            seen |= wanted
            chosen.add(item)
    return chosen


def _value(parameters: Mapping[str, object], name: str) -> object:
    """The value of a parameter or, with dots, of its attributes."""
    parameter, *attributes = name.split(".")
    return functools.reduce(getattr, attributes, parameters[parameter])


def _values(item: pytest.Item) -> set[tuple[str, ...]]:
    marker = item.get_closest_marker("sampled")
    assert marker is not None
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    values = [f"{name}={_value(parameters, name)!r}" for name in marker.args]
    if marker.kwargs.get("together") or not values:
        return {tuple(values)}
    return {(value,) for value in values}
