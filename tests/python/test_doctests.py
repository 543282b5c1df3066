"""The examples in the docstrings run and give what they show."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import inspect
import pkgutil

import pytest

import families
import pymluops

OPERATORS = sorted(families.OPERATORS)


def _modules() -> list[str]:
    """Every module but the program's entry, which would run, the C libraries, gdb's, and those for a missing torch."""
    left_out = ["__main__"] if importlib.util.find_spec("torch") else ["__main__", "pymluops.torch"]
    walked = pkgutil.walk_packages(pymluops.__path__, "pymluops.")
    names = [m.name for m in walked if not m.name.endswith(("__main__", "gdb_kernels")) and ".libml" not in m.name]
    left_out = "" if importlib.util.find_spec("torch") else "pymluops.torch"
    return ["pymluops", *(name for name in names if not left_out or not name.startswith(left_out))]


@pytest.mark.parametrize("name", _modules())
def test_examples_of_a_module(name: str) -> None:
    module = importlib.import_module(name)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.testmod(module, optionflags=flags).failed == 0


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


SIGNATURES = {
    "tin_shift_forward": "(input, shifts, *, out=None, handle=None)",
    "tin_shift_backward": "(grad_output, shifts, *, out=None, handle=None)",
    "psamask_forward": "(x, psa_type, mask_size, *, out=None, handle=None)",
    "psamask_backward": "(dy, psa_type, mask_size, *, out=None, handle=None)",
    "border_align_forward": "(input, boxes, pool_size, *, out=None, argmax_idx=None, handle=None)",
    "border_align_backward": "(grad_output, boxes, argmax_idx, pool_size, feature_size, *, out=None, handle=None)",
    "three_interpolate_forward": "(features, indices, weights, *, out=None, validate=True, handle=None)",
    "three_interpolate_backward": "(grad_output, indices, weights, num_features, *, out=None, validate=True, "
    "handle=None)",
    "get_indice_pairs": "(indices, *, batch_size, spatial_shape, kernel_size, stride=1, padding=0, dilation=1, "
    "subm=False, out_spatial_shape=None, validate=True, handle=None)",
    "TensorDescriptor": "(shape, dtype, layout=Layout.ARRAY, strides=None)",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_keep_the_contract(name: str) -> None:
    """Names, order and defaults of parameters; keyword-only ones may come in any order, and more may be added."""
    promised = inspect.signature(eval(f"lambda {SIGNATURES[name][1:-1]}: 0", {"Layout": pymluops.Layout}))
    found = inspect.signature(getattr(pymluops, name))
    positional = [p for p in found.parameters.values() if p.kind is not p.KEYWORD_ONLY]
    wanted = [p for p in promised.parameters.values() if p.kind is not p.KEYWORD_ONLY]
    assert [(p.name, p.default) for p in positional] == [(p.name, p.default) for p in wanted]
    keywords = {p.name: p.default for p in found.parameters.values() if p.kind is p.KEYWORD_ONLY}
    for parameter in promised.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            assert keywords[parameter.name] == parameter.default
