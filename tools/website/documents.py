"""Documents of other folders as pages, and links out of the folder docs."""

from __future__ import annotations

import posixpath
import re
import tomllib
from functools import cache

from website.gallery import FOLDERS
from website.reading import ROOT

__all__ = ["COPIES", "pages", "with_links"]

#: Files that are pages too, and the names of these pages.
COPIES = {
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
    "benchmarks/README.md": "benchmarks",
    "examples/puzzles/README.md": "puzzles",
    "tests/fuzz/README.md": "fuzz",
}
#: A link, or code in a line, where brackets and parentheses are none.
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)|(?P<code>`+)[^`]+(?P=code)")
_FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)


@cache
def _source_address() -> str:
    """Return the address of the repository, with a slash; nothing if pyproject.toml has none."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    address = str(project.get("urls", {}).get("Source", "")).rstrip("/")
    return f"{address}/blob/main/" if address else ""


def pages() -> dict[str, str]:
    """Return the pages that are copies of documents elsewhere."""
    found: dict[str, str] = {}
    for file, name in COPIES.items():
        text = (ROOT / file).read_text(encoding="utf-8")
        found[f"documents/{name}.md"] = with_links(text, file, f"docs/generated/documents/{name}.md")
    return found


def with_links(text: str, file: str, page: str) -> str:
    """Return a document whose links to files lead to pages, or to the repository; without either they name the file.

    `file` is where the document stands in the repository, `page` where its page does.
    """
    kept = _FENCE.split(text)
    del kept[1::2]
    fences = [found[0] for found in _FENCE.finditer(text)]
    parts = [_LINK.sub(lambda found: _link(found, file, page), part) for part in kept]
    return "".join(part + fence for part, fence in zip(parts, [*fences, ""], strict=True))


def _link(found: re.Match[str], file: str, page: str) -> str:
    words, target = found[1], found[2]
    if found["code"]:
        return found[0]
    if re.match(r"[a-z]+:|#", target):
        return found[0]
    path, mark, anchor = target.partition("#")
    inside = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
    if inside in COPIES:
        inside = f"docs/generated/documents/{COPIES[inside]}.md"
    elif inside == "README.md":
        inside = "docs/index.md"
    elif inside == "native/include/mlu_op.h":
        inside = "docs/generated/c/mlu_op.rst"
    folder, _, example = inside.removeprefix("examples/").partition("/")
    if inside.startswith("examples/") and folder in FOLDERS and "/" not in example:
        inside = f"docs/generated/gallery/{folder}.rst"
    if inside.startswith("docs/") and inside.endswith((".md", ".rst")):
        return f"[{words}]({posixpath.relpath(inside, posixpath.dirname(page))}{mark}{anchor})"
    if _source_address():
        return f"[{words}]({_source_address()}{inside}{mark}{anchor})"
    return words if inside in words else f"{words} (`{inside}`)"
