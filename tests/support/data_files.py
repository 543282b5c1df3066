"""The folder of the tests, and the files of its ``data``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]


def facts(name: str) -> Any:
    """A file of tests/data."""
    return json.loads((TESTS / "data" / name).read_text(encoding="utf-8"))
