"""What operators compute, as formulas or steps, and how the site shows formulas: as MathML, which needs no script."""

from __future__ import annotations

import html
import re
from importlib import import_module
from typing import Any

from website.reading import ROOT

__all__ = ["FOLDER", "connect", "formula"]

#: A file for each family; those that begin with an underscore are parts of several.
FOLDER = ROOT / "docs" / "formulas"


#: A function before an argument without brackets, between which TeX leaves a space.
_FUNCTION = re.compile(r"(\\(?:log|exp|cos|sin))\s*(?=\\?[A-Za-z0-9|])(?!\\left|\\!)")


def formula(family: str) -> str:
    """Return the formulas and steps of a family, which its page includes."""
    path = FOLDER / f"{family}.rst"
    if not path.is_file():
        raise SystemExit(f"docs/formulas/{family}.rst: is missing; write the formula of {family}, or numbered steps")
    return path.read_text(encoding="utf-8")


def connect(app: Any) -> None:
    """Let Sphinx write formulas as MathML, under the name that ``html_math_renderer`` asks for."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))


def _inline(writer: Any, node: Any) -> None:
    writer.body.append(f'<span class="math">{_mathml(node)}</span>')
    _leave()


def _block(writer: Any, node: Any) -> None:
    formula = _mathml(node).replace("<math ", '<math display="block" ', 1)
    writer.body.append(f'<div class="math">{formula}</div>\n')
    _leave()


def _leave() -> None:
    """Leave out what is in the node: it is written."""
    raise import_module("docutils.nodes").SkipNode


def _mathml(node: Any) -> str:
    """Return a formula of TeX as MathML; with a warning and as it stands if it is none."""
    text = _FUNCTION.sub(r"\1\\,", " ".join(node.astext().split()))
    converter: Any = import_module("docutils.utils.math.latex2mathml")
    try:
        return str(converter.tex2mathml(text))
    except (SyntaxError, ValueError) as error:  # MathError is a ValueError
        import_module("sphinx.util.logging").getLogger(__name__).warning(
            "%s: is no formula: %s", text, error, location=node
        )
        return f"<math ><mtext>{html.escape(text)}</mtext></math>"
