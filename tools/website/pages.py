"""All generated pages, and writing them."""

from __future__ import annotations

import shutil
from pathlib import Path

from written.reading import read_families

from website import api, c_headers, documents, gallery, operators
from website.reading import public_names

__all__ = ["FOLDER", "all_pages", "write"]

#: Where the pages are, within the folder of the sources.
FOLDER = "generated"


def all_pages() -> dict[str, str]:
    """Return every generated page by its path."""
    families = read_families()
    return {
        **api.pages(public_names(), operators.described_names(families)),
        **operators.pages(families),
        **c_headers.pages(),
        **gallery.pages(),
        **documents.pages(),
    }


def write(sources: Path) -> None:
    """Write the pages into the folder of the sources; files that are right keep their times, others go."""
    folder = sources / FOLDER
    pages = all_pages()
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_file() and path.relative_to(folder).as_posix() not in pages:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            shutil.rmtree(path)
    for name, text in pages.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
