"""Regions with an infinite corner or a NaN: one rule for every column of every sampler of regions."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import pymluops
from pymluops.oracle import border_align as border_oracle
from support.processes import python_output

_BATCH, _SIZE, _CHANNELS = 2, (5, 6), 8
_ODD = (np.inf, -np.inf, np.nan)
_MAPS = (_BATCH, _SIZE)


class Sampler(NamedTuple):
    """An operator: regions that lie on the map, and both directions.

    Attributes
    ----------
    whole : tuple of float
        A region of the first image.
    forward : function
        Takes maps and regions; returns the output and, where there is one, its argmax.
    backward : function
        Takes the output's gradient, maps, regions and the forward results; the gradient of the maps
        comes first.
    dtypes : tuple
    """

    whole: tuple[float, ...]
    forward: Callable[[Any, Any], Any]
    backward: Callable[[Any, Any, Any, Any], Any]
    dtypes: tuple[Any, ...] = (np.float32, np.float16)


_UPRIGHT = (0, 0.0, 1.0, 4.0, 3.0)
_TURNED = (0, 2.0, 2.0, 3.0, 2.0, 0.3)
_CURVES = (0, *(float(v) for pair in zip((0, 1, 2, 3) * 2, (0, 1, 0, 1, 3, 4, 3, 4), strict=True) for v in pair))


p: Any = pymluops


def _roi_pool(rounded: bool) -> Sampler:
    return Sampler(
        _UPRIGHT,
        lambda x, r: p.roi_pool_forward(x, r, (2, 3), 0.9, rounded),
        lambda g, x, r, found: (p.roi_pool_backward(g, r, found[1], *_MAPS),),
    )


def _roi_align(ratio: int, aligned: bool) -> Sampler:
    return Sampler(
        _UPRIGHT,
        lambda x, r: (p.roi_align_forward(x, r, (2, 3), 0.9, ratio, aligned),),
        lambda g, x, r, found: (p.roi_align_backward(g, r, 0.9, ratio, aligned, *_MAPS),),
    )


def _roi_align_max(ratio: int, aligned: bool) -> Sampler:
    def back(g: Any, x: Any, r: Any, found: Any) -> Any:
        places = p.roi_align_max_forward(x, r, (2, 3), 0.9, ratio, aligned)[1:]
        return (p.roi_align_max_backward(g, r, *places, 0.9, ratio, aligned, *_MAPS),)

    return Sampler(_UPRIGHT, lambda x, r: p.roi_align_max_forward(x, r, (2, 3), 0.9, ratio, aligned)[:1], back)


def _roi_align_rotated(ratio: int, aligned: bool) -> Sampler:
    return Sampler(
        _TURNED,
        lambda x, r: (p.roi_align_rotated_forward(x, r, 2, 0.9, ratio, aligned),),
        lambda g, x, r, found: (p.roi_align_rotated_backward(g, r, 2, 0.9, ratio, aligned, False, *_MAPS),),
    )


def _bezier_align(ratio: int, aligned: bool) -> Sampler:
    return Sampler(
        _CURVES,
        lambda x, r: (p.bezier_align_forward(x, r, (2, 3), 0.9, ratio, aligned),),
        lambda g, x, r, found: (p.bezier_align_backward(g, r, 0.9, ratio, aligned, *_MAPS),),
    )


def _prroi_pool_back(g: Any, x: Any, r: Any, found: Any) -> Any:
    of_rois = p.prroi_pool_coor_backward(g, x, r, found[0], 0.9)
    return p.prroi_pool_backward(g, r, 0.9, *_MAPS), of_rois[:1]


def _ps_roi_pool_back(g: Any, x: Any, r: Any, found: Any) -> Any:
    channels = p.ps_roi_pool_forward(x, r, 2, 2, 0.9, 2, 2)[1]
    return (p.ps_roi_pool_backward(g, r, channels, 2, 2, 0.9, 2, *_MAPS),)


def _deform_roi_pool(ratio: int) -> Sampler:
    def back(g: Any, x: Any, r: Any, found: Any) -> Any:
        of_maps, of_offsets = p.deform_roi_pool_backward(g, x, r, _offsets(r), (2, 3), 0.9, ratio, 0.5)
        return of_maps, of_offsets[:1]

    return Sampler(
        _UPRIGHT, lambda x, r: (p.deform_roi_pool_forward(x, r, _offsets(r), (2, 3), 0.9, ratio, 0.5),), back
    )


def _samplers() -> Iterator[tuple[str, Sampler]]:
    for rounded in (True, False):
        yield f"roi_pool rounded={rounded}", _roi_pool(rounded)
    for make in (_roi_align, _roi_align_max, _roi_align_rotated, _bezier_align):
        for ratio, aligned in itertools.product((0, 2), (True, False)):
            yield f"{make.__name__[1:]} sampling_ratio={ratio} aligned={aligned}", make(ratio, aligned)
    turning = Sampler(
        _TURNED,
        lambda x, r: (p.riroi_align_rotated_forward(x, r, 2, 0.9, 2, 4, False),),
        lambda g, x, r, found: (p.riroi_align_rotated_backward(g, r, 0.9, 2, 4, False, *_MAPS),),
        (np.float32,),
    )
    yield "riroi_align_rotated", turning
    yield "prroi_pool", Sampler(_UPRIGHT, lambda x, r: (p.prroi_pool_forward(x, r, (2, 3), 0.9),), _prroi_pool_back)
    sensitive = Sampler(
        _UPRIGHT, lambda x, r: p.ps_roi_pool_forward(x, r, 2, 2, 0.9, 2, 2)[:1], _ps_roi_pool_back, (np.float32,)
    )
    yield "ps_roi_pool", sensitive
    for ratio in (0, 2):
        yield f"deform_roi_pool sampling_ratio={ratio}", _deform_roi_pool(ratio)


def _offsets(rois: np.ndarray) -> np.ndarray:
    return np.full((len(rois), 2, 2, 3), 0.1, rois.dtype)


SAMPLERS = dict(_samplers())


def _arrays(dtype: Any, more: tuple[int, ...]) -> np.ndarray:
    values = np.random.default_rng(3).uniform(1, 2, more)
    return values.astype(dtype)


def wrong_rows(name: str) -> list[str]:
    """The regions for which an operator does not give 0, and those beside which another one changes."""
    sampler, wrong = SAMPLERS[name], list[str]()
    for dtype in sampler.dtypes:
        maps = _arrays(dtype, (_BATCH, *_SIZE, _CHANNELS))
        both = np.array([sampler.whole, sampler.whole], dtype)
        alone = sampler.forward(maps, both[1:])
        assert (alone[0] != 0).any()
        grad = _arrays(dtype, (2, *alone[0].shape[1:]))
        kept = sampler.backward(grad[1:], maps, both[1:], alone)
        for column, odd in itertools.product(range(both.shape[1]), _ODD):
            rois = both.copy()
            rois[0, column] = odd
            found = sampler.forward(maps, rois)
            back = sampler.backward(grad, maps, rois, found)
            right = (found[0][0] == 0).all() and (found[0][1] == alone[0][0]).all()
            right = right and all((argmax[0] == -1).all() for argmax in found[1:])
            right = right and (back[0] == kept[0]).all() and all((of_region == 0).all() for of_region in back[1:])
            if not right:
                wrong.append(f"{name}, {np.dtype(dtype)}, column {column}, {odd}")
    return wrong


@pytest.mark.parametrize("name", SAMPLERS)
def test_no_value_comes_from_such_a_region(name: str) -> None:
    assert wrong_rows(name) == []


def _corners(dtype: Any, inverted: bool) -> np.ndarray:
    low, high = (0.9, 2.6) if not inverted else (2.6, 0.9)
    rows = [[0, low, low, high, high]]
    for column, odd in itertools.product(range(1, 5), _ODD):
        rows.append([0, low, low, high, high])
        rows[-1][column] = odd
    return np.array(rows, dtype)


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_roi_pool_of_regions_inside_out_has_no_pixels_either(dtype: Any, inverted: bool) -> None:
    """A region that is inside out is a pixel wide if it is rounded: minus infinity is not that."""
    maps = _arrays(dtype, (1, *_SIZE, 3))
    output, argmax = pymluops.roi_pool_forward(maps, _corners(dtype, inverted), 1, 1.0, True)
    assert (output[0] > 0).all()
    assert (output[1:] == 0).all()
    assert (argmax[1:] == -1).all()


def test_roi_pool_of_corners_that_overflow_when_they_are_scaled() -> None:
    maps = _arrays(np.float32, (1, *_SIZE, 3))
    rois = np.array([[0, 0, 0, -3e38, 3], [0, 0, 0, 3, -3e38], [0, 3e38, 0, 3, 3]], np.float32)
    output, argmax = pymluops.roi_pool_forward(maps, rois, 1, 2.0, True)
    assert (output == 0).all()
    assert (argmax == -1).all()


@pytest.mark.parametrize("odd", _ODD)
@pytest.mark.parametrize("column", [0, 1])
def test_a_point_of_roi_crop_samples_nothing(column: int, odd: float) -> None:
    maps = _arrays(np.float32, (1, *_SIZE, 5))
    grid = np.zeros((1, 1, 2, 2), np.float32)
    grid[0, 0, 0, column] = odd
    output = pymluops.roi_crop_forward(maps, grid)
    assert (output[0, 0, 0] == 0).all()
    assert (output[0, 0, 1] != 0).all()
    grad = np.ones_like(output)
    alone = pymluops.roi_crop_backward(grad[:, :, 1:].copy(), grid[:, :, 1:].copy(), 1, _SIZE)
    np.testing.assert_array_equal(pymluops.roi_crop_backward(grad, grid, 1, _SIZE), alone)


@pytest.mark.parametrize("odd", _ODD)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_samples_of_border_align_at_no_place_are_outside(dtype: Any, odd: float) -> None:
    """A border that begins nowhere, or goes on to infinity, has only its first sample on the map."""
    maps = _arrays(dtype, (1, *_SIZE, 16))
    boxes = np.array([[[0.5, 1.0, 4.0, 3.5]] * 4], dtype)
    boxes[0, np.arange(4), np.arange(4)] = odd
    output, argmax = pymluops.border_align_forward(maps, boxes, 3)
    wanted, place = border_oracle.forward(maps, boxes, 3)[:2]
    np.testing.assert_array_equal(output, wanted)
    np.testing.assert_array_equal(argmax, place)
    assert np.isfinite(output).all()


@pytest.mark.parametrize("level", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_the_rule_holds_on_each_instruction_level(level: str) -> None:
    code = (
        "import json; from ops.test_regions_not_finite import SAMPLERS, wrong_rows;"
        "print(json.dumps([row for name in SAMPLERS for row in wrong_rows(name)]))"
    )
    assert json.loads(python_output(code, PYMLUOPS_INSTRUCTION_LEVEL=level)) == []
