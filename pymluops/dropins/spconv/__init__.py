"""The package ``spconv`` 2.x for the CPU: its names, arguments and layouts over `pymluops.torch.sparse`.

`pymluops.install("spconv")` makes it importable under its own names; nothing here is imported
before a program imports ``spconv``.
"""

from __future__ import annotations

from pymluops.dropins.spconv._names import contents, modules

__all__ = ["contents", "modules"]
