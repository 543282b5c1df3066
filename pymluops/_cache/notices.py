"""Warnings at the line of the program that led to them."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path

__all__ = ["warn_at_caller", "warn_once"]

_PACKAGE = str(Path(__file__).resolve().parent.parent)
_said: set[str] = set()


def warn_once(text: str) -> None:
    """Warn, unless this was said before."""
    if text in _said:
        return
    _said.add(text)
    warn_at_caller(text)


def warn_at_caller(text: str) -> None:
    """Warn at the innermost line that is not one of this package."""
    frames = inspect.stack(context=0)
    level = next((i for i, frame in enumerate(frames) if not frame.filename.startswith(_PACKAGE)), 0)
    warnings.warn(text, RuntimeWarning, stacklevel=level + 1)
