"""Tests of pymluops.torch, where torch is installed."""

from __future__ import annotations

import importlib.util

# The folder is not called torch: it would be found in place of the package.
collect_ignore_glob = [] if importlib.util.find_spec("torch") else ["test_*.py"]
