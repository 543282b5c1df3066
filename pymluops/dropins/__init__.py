"""Packages and compiled extensions of others that programs import, computed by this package on the CPU.

`pymluops.install` makes them importable under their own names::

    import pymluops
    pymluops.install()          # what adds only what is missing
    pymluops.install("spconv")  # by name only: a whole package

``python -m pymluops.dropins`` prints which there are and what works. Nothing of PyTorch is imported
before a program imports one of them.
"""

from __future__ import annotations

from pymluops.dropins._install import install, uninstall

__all__ = ["install", "uninstall"]
