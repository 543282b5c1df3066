"""The README in the clone, and as a package index shows it."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tool() -> Any:
    spec = importlib.util.spec_from_file_location("index_readme", ROOT / "tools" / "index_readme.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def targets(text: str) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", text)


def test_links_of_the_clone_lead_to_files() -> None:
    files = [target for target in targets(README) if not target.startswith("https:")]
    assert len(files) > 20
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_pictures_are_small() -> None:
    pictures = [file for file in targets(README) if file.startswith("docs/pictures/")]
    assert len(pictures) == 5
    assert sum((ROOT / file).stat().st_size for file in pictures) < 500_000
    assert all((ROOT / file).stat().st_size < 200_000 for file in (ROOT / "docs" / "pictures").iterdir())


def test_with_an_address_links_are_absolute(tool: Any) -> None:
    found = tool.for_index(README, "https://example.org/a/b/", "1.2")
    assert all(target.startswith("https://") for target in targets(found))
    assert "![Times" in found
    assert "https://example.org/a/b/raw/v1.2/docs/pictures/speed.png" in targets(found)
    assert "https://example.org/a/b/blob/v1.2/docs/torch.md" in targets(found)


def test_without_an_address_nothing_is_broken(tool: Any) -> None:
    found = tool.for_index(README, "", "1.2")
    assert all(target.startswith("https://") for target in targets(found))
    assert "docs/pictures" not in found
    captions = re.findall(r"\*\*[^*]+\*\*", "".join(line for line in README.splitlines() if line.startswith("| **")))
    assert len(captions) == 4
    assert [caption for caption in captions if caption in found] == []
    assert "|" not in found and "\n\n\n" not in found
    assert found.endswith("\nThe documents are in the folder `docs` of the source distribution.\n")
    assert "[PyTorch]" not in found
    assert "PyTorch, mmcv" in found
