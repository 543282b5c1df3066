"""The examples in the docstrings run and give what they show."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import inspect
import pkgutil

import pytest

import pymluops
from support import families
from support.signatures import assert_signature

OPERATORS = sorted(families.OPERATORS)


#: Modules and packages that import PyTorch, or whose examples do.
WITH_TORCH = ("pymluops.torch", "pymluops.dropins")


def _modules() -> list[str]:
    """Every module but the program's entry, which would run, the C libraries, gdb's, and those for a missing torch."""
    walked = pkgutil.walk_packages(pymluops.__path__, "pymluops.", onerror=lambda _: None)
    names = [m.name for m in walked if not m.name.endswith(("__main__", "gdb_kernels")) and ".libml" not in m.name]
    left_out = () if importlib.util.find_spec("torch") else WITH_TORCH
    return ["pymluops", *(name for name in names if not name.startswith(left_out or "-"))]


@pytest.mark.parametrize("name", _modules())
def test_examples_of_a_module(name: str) -> None:
    module = importlib.import_module(name)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    try:
        assert doctest.testmod(module, optionflags=flags).failed == 0
    finally:
        pymluops.uninstall()  # an example installs a drop-in, which other tests of this process must not find


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_is_documented_with_an_example(name: str) -> None:
    function = getattr(pymluops, name)
    text = inspect.getdoc(function) or ""
    for heading in ("Parameters", "Returns", "Raises", "Examples"):
        assert f"{heading}\n{'-' * len(heading)}" in text, heading
    finder = doctest.DocTestFinder(recurse=False)
    examples = [test for test in finder.find(function, name, globs={"pymluops": pymluops}) if test.examples]
    assert examples
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for test in examples:
        assert runner.run(test).failed == 0


@pytest.mark.parametrize("name", OPERATORS)
def test_every_parameter_of_an_operator_is_documented(name: str) -> None:
    function = getattr(pymluops, name)
    text = inspect.getdoc(function) or ""
    for parameter in inspect.signature(function).parameters:
        assert parameter in text.split("Returns\n")[0], parameter


def test_signatures_keep_the_contract() -> None:
    assert_signature("TensorDescriptor", "(shape, dtype, layout=Layout.ARRAY, strides=None)")
