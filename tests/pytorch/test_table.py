"""The table of docs/torch.md, which is written without PyTorch, says what the imported functions do."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import pymluops.torch
from pymluops.torch._function import FUNCTIONS

_DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "torch.md").read_text(encoding="utf-8")
ROWS = {
    line[3:].partition("(")[0]: [cell.strip() for cell in line.strip("|").split("|")]
    for line in _DOCUMENT.partition("<!-- operators")[2].partition("<!-- end")[0].splitlines()
    if line.startswith("| `")
}


def test_every_function_has_a_row() -> None:
    assert list(ROWS) == sorted(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_row_is_true(name: str) -> None:
    """As many arguments have a gradient as the operator declares, of the order that it has."""
    signature, module, gradient, forward = ROWS[name]
    function, operator = getattr(pymluops.torch, name), FUNCTIONS[name][0].operator
    arguments = signature.strip("`").partition("(")[2].rstrip(")").split(", ")
    assert arguments == [
        argument.name
        for argument in inspect.signature(function).parameters.values()
        if argument.kind is not argument.KEYWORD_ONLY
    ]
    named = [text.strip("`") for text in gradient.split(", ") if text.startswith("`")]
    assert len(named) == len(operator.gradients or ())
    assert set(named) <= set(arguments)
    twice = bool(operator.gradient and operator.gradient.gradients)
    assert ("of any order" in gradient, "first order" in gradient) == (twice, bool(named) and not twice)
    assert set(forward.replace("`", "").split(", ")) <= {*named, "none"}
    assert all(hasattr(pymluops.torch, one.strip("`")) for one in module.split(", ") if one)
