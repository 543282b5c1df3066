"""The extension without mmcv: a module with its contents."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture(scope="package")
def torch() -> Iterator[Any]:
    """PyTorch with one thread: more of them only wait for each other on tensors as small as those of the tests."""
    module = pytest.importorskip("torch")
    threads = module.get_num_threads()
    module.set_num_threads(1)
    yield module
    module.set_num_threads(threads)


@pytest.fixture(scope="package")
def ext(torch: Any) -> ModuleType:
    """What `mmcv._ext` is after `pymluops.mmcv.install()`."""
    from pymluops.mmcv._extension import contents

    module = ModuleType("mmcv._ext")
    vars(module).update(contents())
    return module
