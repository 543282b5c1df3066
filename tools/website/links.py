#!/usr/bin/env python3
"""Check the links of the built documentation.

    python3 tools/website/links.py OUT

A link within the site must lead to a file, and to an anchor that it has. Links to other places are
looked at by their form only, so that the check needs no network. The exit status is 1 if a link is
wrong.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["wrong_links"]

#: A host with a dot, and a path without blanks.
_ADDRESS = re.compile(r"https?://[\w-]+(\.[\w-]+)+(:\d+)?(/[^\s<>\"]*)?(\?[^\s<>\"]*)?(#\S*)?")


class _Page(HTMLParser):
    """Collects what a page links to, and the anchors that it has."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the attributes of a tag that link, or that are linked to."""
        values = dict(attrs)
        for name in ("href", "src"):
            if values.get(name) and not (tag == "link" and values.get("rel") in ("search", "canonical")):
                self.targets.append(values[name] or "")
        self.anchors.update(value for value in (values.get("id"), values.get("name")) if value)


@cache
def _page(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def wrong_links(out: Path) -> list[str]:
    """Return a line for each link that leads nowhere."""
    out = out.resolve()
    found = {
        f"{path.relative_to(out)}: {target}: {problem}"
        for path in sorted(out.rglob("*.html"))
        if "_static" not in path.parts
        for target in _page(path).targets
        if (problem := _problem(path, target, out))
    }
    return sorted(found)


def _problem(path: Path, target: str, out: Path) -> str:
    parts = urlsplit(target)
    if parts.scheme in ("http", "https"):
        return "" if _ADDRESS.fullmatch(target) else "this is no address"
    if parts.scheme in ("mailto", "data", "javascript"):
        return ""
    if parts.scheme:
        return f"the scheme {parts.scheme} leads nowhere"
    place = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not place.is_relative_to(out) or not place.is_file():
        return "there is no such file"
    anchor = unquote(parts.fragment)
    if anchor and place.suffix == ".html" and anchor not in _page(place).anchors:
        return "the page has no such anchor"
    return ""


def main() -> int:
    """Print the wrong links of the site in the folder that is given."""
    if len(sys.argv) != 2 or not Path(sys.argv[1], "index.html").is_file():
        print("links.py: expected the folder of a built site, with index.html", file=sys.stderr)
        return 2
    wrong = wrong_links(Path(sys.argv[1]))
    print("\n".join(wrong) or "all links lead somewhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
