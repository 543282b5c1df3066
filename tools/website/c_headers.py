"""The reference of the C ABI, from the headers."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from website.docstrings import heading
from website.reading import ROOT

__all__ = ["connect", "pages"]

_INCLUDE = ROOT / "native" / "include"
_READERS = "For those who call the libraries from C or C++, or through their ABI."
_SECTION = re.compile(r"/\* -{2,} (.*?) -{2,} \*/$")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_FUNCTION = re.compile(r"[\w\s*]+?\b(?:mluOp|mluops)\w+\s*\(")
_ENUM = re.compile(r"typedef enum \{(.*)\} (\w+);$", re.DOTALL)


def pages() -> dict[str, str]:
    """Return a page for the vendor's header, one for those of this project, and their index."""
    own = [_INCLUDE / "mluops_ext.h", *sorted((_INCLUDE / "mluops_ext").glob("*.h"))]
    parts = [_page(path, path.relative_to(_INCLUDE).as_posix(), "-") for path in own]
    lines = [
        heading("C", "="),
        f"{_READERS} These pages have every function and type of the headers.",
        "``mlu_op.h`` is the ABI of mlu-ops 1.11.1, the others are what this project adds. :doc:`/c` tells how to",
        "build and link.",
        "",
        ".. toctree::",
        "   :maxdepth: 1",
        "",
        "   mlu_op",
        "   mluops_ext",
    ]
    return {
        "c/mlu_op.rst": _page(_INCLUDE / "mlu_op.h", "mlu_op.h", "="),
        "c/mluops_ext.rst": heading("mluops_ext.h", "=")
        + f"\n{_READERS} These functions are what this project adds to the ABI, header by header.\n\n"
        + "\n".join(part for part in parts if ".. c:function::" in part),
        "c/index.rst": "\n".join(lines) + "\n",
    }


def _page(path: Path, title: str, line: str) -> str:
    source = path.read_text(encoding="utf-8")
    head = _COMMENT.match(source)
    lines = [heading(title, line), *([_READERS, ""] if line == "=" else []), _text(head[0]) if head else "", ""]
    for kind, text, comment in _parts(source[head.end() if head else 0 :]):
        if kind == "section":
            lines += [heading(text, "-" if line == "=" else "~")]
        elif kind == "function":
            lines += [f".. c:function:: {text}", "", textwrap.indent(_text(comment), "   "), ""]
        elif kind == "type":
            lines += _type(text, _text(comment))
        else:
            lines += [_text(comment), "", ".. code-block:: c", "", textwrap.indent(text, "   "), ""]
    return "\n".join(lines) + "\n"


def _type(declaration: str, comment: str) -> list[str]:
    """Return the directive of a type, which the index and the search have, and so do the members of an enum."""
    enum = _ENUM.match(declaration)
    if enum is None:
        words = " ".join(declaration.removeprefix("typedef ").removesuffix(";").split())
        return [f".. c:type:: {words}", "", textwrap.indent(comment, "   "), ""]
    lines = [f".. c:enum:: {enum[2]}", "", textwrap.indent(comment, "   "), ""]
    for member in re.split(r",\s*", _COMMENT.sub("", enum[1]).strip()):
        lines += [f"   .. c:enumerator:: {' '.join(member.split())}", ""] if member else []
    return lines


def connect(app: Any) -> None:
    """Leave parameters of functions out of the search, where they would stand before everything else."""
    app.connect("builder-inited", _without_parameters)


def _without_parameters(app: Any) -> None:
    domain = app.env.get_domain("c")
    every = domain.get_objects
    domain.get_objects = lambda: (found for found in every() if found[2] != "functionParam")


def _parts(source: str) -> Iterator[tuple[str, str, str]]:
    """Yield sections, functions and other declarations, each with the comment above it."""
    source = re.sub(r"^#ifdef __cplusplus$.*?^#endif$", "", source, flags=re.DOTALL | re.MULTILINE)
    comment = ""
    for block in re.split(r"\n{2,}", source):
        text = block.strip()
        if found := _SECTION.match(text):
            yield "section", found[1].strip(), ""
            continue
        above = _COMMENT.match(text)
        if above:
            comment, text = above[0], text[above.end() :].strip()
        for declaration in _declarations(text):
            plain = " ".join(_COMMENT.sub("", declaration).replace("MLUOP_WIN_API", "").split())
            if _FUNCTION.match(plain) and not plain.startswith("typedef"):
                yield "function", plain.removesuffix(";"), comment
            elif plain.startswith("typedef"):
                yield "type", declaration, comment
            elif plain and not plain.startswith("#"):
                yield "declaration", declaration, comment
            comment = ""


def _declarations(text: str) -> Iterator[str]:
    """Yield declarations, which end with a semicolon outside of braces; a comment stays with the next one."""
    text = re.sub(r"^#.*(?:\\\n.*)*$", "", text, flags=re.MULTILINE)
    depth, start = 0, 0
    for i, letter in enumerate(text):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == ";" and depth == 0 and text.count("/*", start, i) == text.count("*/", start, i):
            yield text[start : i + 1].strip()
            start = i + 1


def _text(comment: str) -> str:
    """Return a comment as text: its paragraphs, with lists as they stand."""
    inside = comment.removeprefix("/*").removesuffix("*/")
    lines = [re.sub(r"^\s*\* ?", "", line) for line in inside.split("\n")]
    text = textwrap.dedent("\n".join([lines[0].strip(), *lines[1:]])).strip()
    blocks = re.split(r"\n{2,}", text)
    return "\n\n".join(
        _listed(block) or (_literal(block) if re.search(r"^ {2,}", block, re.MULTILINE) else _escaped(block))
        for block in blocks
    )


def _listed(block: str) -> str:
    """Return a list under a line as one; nothing if the block is not that."""
    head, _, rest = block.partition("\n")
    if re.fullmatch(r"(?: {2}- .*\n(?: {4}.*\n)*)+", f"{rest}\n") is None:
        return ""
    items = re.split(r"^ {2}- ", rest, flags=re.MULTILINE)[1:]
    return "\n".join([_escaped(head), "", *(f"- {_escaped(' '.join(item.split()))}" for item in items)])


def _literal(block: str) -> str:
    return ".. code-block:: none\n\n" + textwrap.indent(textwrap.dedent(block), "   ")


def _escaped(text: str) -> str:
    """Return text in which backticks mark code, and nothing else means anything."""
    parts = re.split(r"`([^`]+)`", text)
    parts[::2] = [re.sub(r"([\\*`|_])", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [f"``{part}``\\ " for part in parts[1::2]]
    return "".join(parts)
