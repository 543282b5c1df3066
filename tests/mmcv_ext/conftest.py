"""The extension without mmcv: a module with its contents."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest


@pytest.fixture(scope="session")
def torch() -> Any:
    return pytest.importorskip("torch")


@pytest.fixture(scope="session")
def ext(torch: Any) -> ModuleType:
    """What `mmcv._ext` is after `pymluops.mmcv.install()`."""
    from pymluops.mmcv._extension import contents

    module = ModuleType("mmcv._ext")
    vars(module).update(contents())
    return module
