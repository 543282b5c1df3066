"""What the translator of BANG C makes of pieces of source, for its tests."""

from __future__ import annotations

import pytest

from pymluops.sim.translator import TranslationError, translate

EACH = "[=](const auto &...mlusim_each) {{ {0}(mlusim_each...); }}"


def translated(source: str) -> str:
    """What a source becomes, without the line that names it."""
    first, rest = translate(source, "some.mlu").split("\n", 1)
    assert first == '#line 1 "some.mlu"'
    assert rest.count("\n") == source.count("\n")
    return rest


def in_function(statement: str) -> str:
    """What a statement of a function becomes."""
    begin, end = "void f() { ", " }"
    result = translated(begin + statement + end)
    assert result.startswith(begin)
    assert result.endswith(end)
    return result[len(begin) : len(result) - len(end)]


def launch(kernel: str, arguments: str = "", config: str = "(dim), (type), (queue)", call: str | None = None) -> str:
    """The call that a launch becomes."""
    function = EACH.format(kernel if call is None else call)
    return f'::mlusim::mlusim_launch("{kernel}", &::mlusim::mlusim_unit, {config}, {function}{arguments})'


def refusal(source: str) -> tuple[int, str]:
    """Line and text of the message about a source."""
    with pytest.raises(TranslationError) as caught:
        translate(source, "some.mlu")
    assert str(caught.value) == f"some.mlu:{caught.value.line}: {caught.value.message}"
    return caught.value.line, caught.value.message
