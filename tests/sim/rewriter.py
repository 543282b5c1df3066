"""The rewriter of BANG C sources, for tests."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

REPOSITORY = Path(__file__).resolve().parents[2]
#: Headers that treated sources include.
INCLUDE = REPOSITORY / "native" / "sim" / "include"
REWRITER = REPOSITORY / "native" / "sim" / "rewrite.py"


@cache
def load_rewriter() -> ModuleType:
    """The rewriter as a module."""
    spec = importlib.util.spec_from_file_location("bang_rewriter", REWRITER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
