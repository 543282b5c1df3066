"""Shapes of declarations: which sizes fit, which symbols they give values, and what a message shows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pymluops.mmcv._shapes import NOTHING, Shape


def shapes(*texts: str, known: Sequence[str] = ()) -> list[Shape]:
    terms = {*NOTHING, *known}
    return [Shape(text, terms) for text in texts]


def test_symbols_take_their_values_from_dims() -> None:
    maps, boxes, borders = shapes("N 4*C H W", "N K 4", "N C K 4")
    sizes = dict(NOTHING)
    assert maps.agrees((2, 12, 5, 6), sizes) and boxes.agrees((2, 7, 4), sizes) and borders.agrees((2, 3, 7, 4), sizes)
    assert borders.of(sizes) == (2, 3, 7, 4)
    assert {name: sizes[name] for name in "NCHWK"} == {"N": 2, "C": 3, "H": 5, "W": 6, "K": 7}


@pytest.mark.parametrize("found", [(2, 12, 5), (2, 13, 5, 6), (2, 3, 5, 6), (2, 12, 5, 6, 1), ()])
def test_other_shapes_do_not_fit(found: tuple[int, ...]) -> None:
    (maps,) = shapes("N 4*C H W")
    assert not maps.agrees(found, dict(NOTHING))


def test_numbers_and_earlier_arrays_decide() -> None:
    masks, spread = shapes("n h*w H W", "n H*W H W", known=("n", "h", "w"))
    sizes = {**NOTHING, "n": 1, "h": 3, "w": 2}
    assert masks.agrees((1, 6, 4, 5), dict(sizes)) and not masks.agrees((1, 5, 4, 5), dict(sizes))
    assert not masks.agrees((2, 6, 4, 5), dict(sizes))
    assert masks.agrees((1, 6, 4, 5), sizes) and spread.agrees((1, 20, 4, 5), sizes)
    assert not spread.agrees((1, 21, 4, 5), sizes)


def test_products_with_nothing_in_them() -> None:
    first, second = shapes("N", "N*M 3")
    sizes = dict(NOTHING)
    assert first.agrees((0,), sizes) and second.agrees((0, 3), sizes) and not second.agrees((2, 3), dict(sizes))


def test_a_symbol_has_one_value() -> None:
    (square,) = shapes("N N")
    assert square.agrees((3, 3), dict(NOTHING)) and not square.agrees((3, 4), dict(NOTHING))
    (nothing,) = shapes("")
    assert nothing.agrees((), dict(NOTHING)) and not nothing.agrees((1,), dict(NOTHING))


def test_a_message_shows_what_was_known_before() -> None:
    first, second = shapes("N C 3", "N 4*K 2*C C")
    sizes = dict(NOTHING)
    assert first.agrees((2, 5, 3), sizes)
    assert not second.agrees((2, 6, 10, 5), sizes)
    assert second.shown(sizes) == "shape [2, 4*K, 10, 5]"
    assert first.shown(sizes) == "shape [any, any, 3]"
