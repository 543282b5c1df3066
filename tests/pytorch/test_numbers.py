"""Numbers among the arguments: those of Python, NumPy and tensors are taken, anything else is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import pymluops
import pymluops.torch as ours


def pool(n: Any, dtype: torch.dtype) -> Any:
    return ours.border_align(torch.rand(1, 8, 4, 4).to(dtype), torch.rand(1, 2, 4).to(dtype), n)


def query(n: Any, dtype: torch.dtype) -> Any:
    return ours.ball_query(0.0, 1.0, n, torch.rand(1, 8, 3).to(dtype), torch.rand(1, 2, 3).to(dtype))


def spread(n: Any, dtype: torch.dtype) -> Any:
    return ours.psa_mask(torch.rand(1, 9, 4, 4).to(dtype), "collect", n)


def attend(n: Any, dtype: torch.dtype) -> Any:
    value, places, weights = torch.rand(3, 4, 1, 2), torch.rand(3, 3, 1, 1, 2, 2), torch.rand(3, 3, 1, 1, 2)
    maps = torch.tensor([[2, 2]]), torch.tensor([0])
    return ours.ms_deform_attn(value.to(dtype), *maps, places.to(dtype), weights.to(dtype), n)


#: Calls with one number.
INTEGERS: dict[str, Callable[..., Any]] = {
    "pool_size": pool,
    "nsample": query,
    "mask_size": spread,
    "im2col_step": attend,
}
every_integer = pytest.mark.parametrize("name", INTEGERS)
#: The library computes small tensors of float32 directly; those of float64 go through torch's
#: dispatcher.
every_way = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["direct", "through torch"])
THREES = (np.int64(3), np.int32(3), np.uint8(3), np.array(3), torch.tensor(3), torch.tensor(3, dtype=torch.uint8))
NO_INTEGERS = (3.0, 2.9, True, "3", None, [[3], [3]], np.float64(3), torch.tensor(3.0), torch.tensor([3.0, 3.0]))


@every_way
@every_integer
def test_integers(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(1)
    wanted = INTEGERS[name](3, dtype)
    for three in THREES:
        torch.manual_seed(1)
        torch.testing.assert_close(INTEGERS[name](three, dtype), wanted, rtol=0, atol=0)


@every_way
@every_integer
def test_what_is_no_integer(name: str, dtype: torch.dtype) -> None:
    for wrong in NO_INTEGERS:
        with pytest.raises(TypeError, match=rf"{name}: expected an integer.*, got") as caught:
            INTEGERS[name](wrong, dtype)
        assert isinstance(caught.value, pymluops.BadParamError)


@every_way
def test_radii(dtype: torch.dtype) -> None:
    points, centres = torch.rand(1, 8, 3).to(dtype), torch.rand(1, 2, 3).to(dtype)
    wanted = ours.ball_query(0.0, 1.0, 3, points, centres)
    radius: Any
    for radius in (1, np.float32(1), np.float64(1), np.int64(1), np.array(1.0), torch.tensor(1.0), torch.tensor(1)):
        torch.testing.assert_close(ours.ball_query(0, radius, 3, points, centres), wanted)
    for radius in ("1", None, True, [1.0], 1j, torch.tensor([1.0])):
        with pytest.raises(TypeError, match="ball_query: max_radius: expected a number, got"):
            ours.ball_query(0.0, radius, 3, points, centres)
        with pytest.raises(TypeError, match="ball_query: min_radius: expected a number, got"):
            ours.ball_query(radius, 1.0, 3, points, centres)
