"""The reference of Python names: a page for each module that users import from."""

from __future__ import annotations

from collections.abc import Mapping

from website.docstrings import entry, first_sentence, heading, prose
from website.reading import PACKAGES, READERS, Name, document_of

__all__ = ["pages"]


def pages(names: Mapping[str, Name], elsewhere: Mapping[tuple[str, str], str]) -> dict[str, str]:
    """Return the pages.

    `elsewhere` has the names that a page of an operator describes, by module and name, and the
    full name that they have there. Of what several modules export, the first describes it.
    """
    described: dict[tuple[str, str], str] = {}
    found = {"api/index.rst": _index()}
    # The more special module describes what both have.
    for module in sorted(PACKAGES, key=lambda one: -one.count(".")):
        own = {full: what for full, what in names.items() if full.rpartition(".")[0] == module}
        found[f"api/{module}.rst"] = _page(module, own, {**described, **elsewhere}, set(elsewhere.values()))
        described = {(what.module, what.name): full for full, what in own.items()} | described
    return found


def _index() -> str:
    lines = [
        heading("Python", "="),
        "For those who look a name up: every public name of the package, module by module. Operators have",
        ":doc:`pages of their own </generated/operators/index>`.",
        "",
        ".. toctree::",
        "   :maxdepth: 1",
        "",
        *(f"   {title} <{module}>" for module, title in PACKAGES.items()),
    ]
    return "\n".join(lines) + "\n"


def _title(module: str) -> str:
    """Return what the page of a module is called: its name, and what it is about if the name does not say it."""
    about = PACKAGES[module]
    return module if about.lower() == module.rpartition(".")[2] else f"{module}: {about}"


def _page(
    module: str, own: Mapping[str, Name], described: Mapping[tuple[str, str], str], on_operators: set[str]
) -> str:
    lines = [heading(_title(module), "="), f"For those who {READERS[module]}.", ""]
    document = document_of(module)
    lines += [prose(document), ""]
    places = {full: described.get((what.module, what.name), full) for full, what in own.items()}
    others = {full: what for full, what in own.items() if places[full] != full or full in on_operators}
    for full, what in own.items():
        if full not in others:
            lines += [entry(full, what), ""]
    if others:
        lines += [heading("Described elsewhere", "-"), ".. list-table::", "   :widths: 40 60", ""]
        for full, what in others.items():
            lines += [f"   * - :py:obj:`{what.name} <{places[full]}>`", f"     - {first_sentence(what.document)}"]
    return "\n".join(lines) + "\n"
