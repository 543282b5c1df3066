"""Docstrings in numpydoc's form as directives of Sphinx."""

from __future__ import annotations

import re
import textwrap
from importlib import import_module
from typing import Any

from website.reading import Member, Name

__all__ = ["entry", "first_sentence", "heading", "prose"]


def heading(text: str, line: str) -> str:
    """Return a heading with its underline."""
    return f"{text}\n{line * max(len(text), 3)}\n"


def first_sentence(document: str) -> str:
    """Return the first paragraph of a docstring in one line."""
    return _without_emphasis(document.strip().split("\n\n", 1)[0].replace("\n", " "))


#: Code within a text, which is left as it is.
_CODE = re.compile(r"(``.*?``|`[^`]*`)", re.DOTALL)


def _without_emphasis(document: str) -> str:
    """Return a docstring whose asterisks are just that: none of ours means emphasis."""
    blocks: list[str] = []
    literal = -1
    for block in re.split(r"(\n{2,})", document):
        indent = len(block) - len(block.lstrip(" "))
        if literal >= 0 and block.strip() and indent <= literal:
            literal = -1
        if literal < 0 and not block.lstrip().startswith(">>>"):
            text, example = _cut_example(block)
            parts = _CODE.split(text)
            parts[::2] = [part.replace("*", "\\*") for part in parts[::2]]
            last = block.split("\n")[-1]
            literal = len(last) - len(last.lstrip(" ")) if block.endswith("::") else -1
            block = re.sub(r"(?<=\w)`(?=\w)", r"`\\ ", "".join(parts)) + example  # a plural of code
        blocks.append(block)
    return "".join(blocks)


def _cut_example(block: str) -> tuple[str, str]:
    """Split a paragraph where an example begins in it, as behind the heading of a section."""
    found = re.search(r"^ *>>>", block, re.MULTILINE)
    return (block, "") if found is None else (block[: found.start()], block[found.start() :])


def prose(document: str) -> str:
    """Return a docstring with its sections as lists of fields."""
    # A directive of numpydoc's that would ask for footnotes.
    text = re.sub(r"^\.\. only:: latex\n\n.*?(?=^\S|\Z)", "", as_fields(document), flags=re.MULTILINE | re.DOTALL)
    return text.strip()


def as_fields(document: str) -> str:
    """Return what numpydoc makes of a docstring. It is imported here, so that tests of the pages go without it."""
    sphinx: Any = import_module("numpydoc.docscrape_sphinx")
    return str(sphinx.SphinxDocString(_without_emphasis(document), config={"use_plots": False}))


def entry(full_name: str, what: Name) -> str:
    """Return the directive that describes a name, with its members."""
    directive = {"module": "data"}.get(what.kind, what.kind)
    lines = [f".. py:{directive}:: {full_name}{what.signature}", "   :no-index-entry:" if what.kind == "data" else ""]
    lines.append("")
    if what.document:
        lines += [textwrap.indent(prose(what.document), "   "), ""]
    for member in what.members:
        if not member.document and member.kind == "property":
            continue  # the docstring of the class lists it, or it is plain
        lines += [textwrap.indent(_member(member), "   "), ""]
    return "\n".join(lines)


def _member(member: Member) -> str:
    lines = [f".. py:{member.kind}:: {member.name}"]
    if member.kind == "attribute":
        lines.append(f"   :value: {member.signature.removeprefix(' = ')}")
    else:
        lines[0] += member.signature
    lines.append("")
    if member.document:
        lines.append(textwrap.indent(prose(member.document), "   "))
    return "\n".join(lines)
