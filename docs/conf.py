"""Settings of Sphinx: ``python3 -m sphinx -W -b html docs OUT`` builds the documentation.

It asks `website` in the folder tools for the generated pages first, so that they are never checked
in and never old. It needs the extra ``docs`` and nothing compiled.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS.parent / "tools")]

from website.documents import with_links
from website.pages import write

from website import c_headers, formulas

write(DOCS)

_PROJECT: dict[str, Any] = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
project = "pymluops"
version = release = _PROJECT["version"]
author = copyright = "The pymluops authors"

extensions = ["myst_parser"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
#: A single backtick is code, as in the docstrings of the package.
default_role = "literal"
primary_domain = "py"
nitpicky = False
maximum_signature_line_length = 88
python_use_unqualified_type_names = True
toc_object_entries = False
#: Anchors of headings, for links from one document to a section of another.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]
#: Parts of the generated pages, which include them.
exclude_patterns = ["formulas"]
html_math_renderer = "mathml"
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = f"pymluops {release}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_js_files = ["intrinsics.js"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
pygments_style, pygments_dark_style = "friendly", "monokai"


def _links_out(app: Any, name: str, source: list[str]) -> None:
    """Make links of checked-in documents to other folders lead to their pages, or to the repository."""
    del app
    if not name.startswith("generated/") and (DOCS / f"{name}.md").is_file():
        source[0] = with_links(source[0], f"docs/{name}.md", f"docs/{name}.md")


def setup(app: Any) -> dict[str, bool]:
    """Connect what this file adds to Sphinx."""
    formulas.connect(app)
    c_headers.connect(app)
    app.connect("source-read", _links_out)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
