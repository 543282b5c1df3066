"""Warnings about the cache: each once in a process, at the line of the program that led to it."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path

__all__ = ["warn_once"]

_PACKAGE = str(Path(__file__).resolve().parent.parent)
_said: set[str] = set()


def warn_once(text: str) -> None:
    """Warn, unless this was said before."""
    if text in _said:
        return
    _said.add(text)
    frames = inspect.stack(context=0)
    level = next((i for i, frame in enumerate(frames) if not frame.filename.startswith(_PACKAGE)), 0)
    warnings.warn(text, RuntimeWarning, stacklevel=level + 1)
