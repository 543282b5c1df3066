"""A judge that all tests of a module ask, and what it compiled in earlier sessions."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from pymluops.bang.judging import Judge, Limits

#: Of kernels that are to be right: enough for a busy machine.
LIMITS = Limits(seconds=20)


@pytest.fixture(scope="module")
def kept(request: pytest.FixtureRequest, compiler: str) -> Iterator[None]:
    """What did not change since an earlier session is not compiled again."""
    assert request.config.cache is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYMLUOPS_CACHE_DIR", str(request.config.cache.mkdir("judge")))
        yield


@pytest.fixture(scope="module")
def judge(kept: None) -> Iterator[Judge]:
    assert os.environ["PYMLUOPS_CACHE_DIR"]
    with Judge(limits=LIMITS) as judge:
        yield judge
