"""A library that lacks nearly all functions: each is told when it is called, and nothing is touched."""

from __future__ import annotations

import pytest

import pymluops
from functions.arguments import Arguments
from pymluops import functions

NAMES = list(functions)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("mluOpCreate", "mluOpDestroy")])
def test_a_library_without_the_function(name: str, lean: pymluops.Backend) -> None:
    legal = Arguments(name, lean)
    before = {key: value for key, value in legal.values.items() if not key.endswith("_desc")}
    with pymluops.use(lean), pytest.raises(pymluops.NotSupportedError) as caught:
        getattr(functions, name)(**legal.values)
    assert lean.path in caught.value.detail
    assert name in caught.value.detail
    assert before.keys() <= legal.values.keys()
    assert legal.untouched()


def test_settings_of_a_library_without_them(lean: pymluops.Backend) -> None:
    with pytest.raises(pymluops.NotSupportedError, match="does not export mluOpCreateCarafeDescriptor"):
        pymluops.CarafeDescriptor(3, 1, 2, backend=lean)
