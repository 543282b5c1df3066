"""What torch.library demands of a registered operator, and what follows from the description."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from pymluops.torch._library import REGISTERED
from support.example import MOVING, SAMPLING, SHARING
from support.torch_samples import NAMES, all_equal, arguments, batched, overload, with_gradient


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@pytest.mark.parametrize("name", NAMES)
def test_opcheck(name: str, grad: bool) -> None:
    made = arguments(name)
    torch.library.opcheck(overload(name), with_gradient(name, made) if grad else made)


@pytest.mark.parametrize("name", NAMES)
def test_a_fake_call_tells_shape_and_type(name: str) -> None:
    from torch._subclasses import FakeTensorMode

    made = arguments(name, torch.bfloat16)
    real = overload(name)(*made)
    with FakeTensorMode() as mode:
        fake = overload(name)(*(mode.from_tensor(a) if isinstance(a, torch.Tensor) else a for a in made))
    real, fake = (r if isinstance(r, tuple) else (r,) for r in (real, fake))
    for one, other in zip(real, fake, strict=True):
        assert (one.shape, one.dtype, one.stride()) == (other.shape, other.dtype, other.stride())


def test_a_fake_call_refuses_shapes_that_do_not_fit() -> None:
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode(), pytest.raises(ValueError, match=r"shifts: expected shape \[B=2, G\], got \[3, 3\]"):
        overload(MOVING.name)(torch.empty(2, 4, 6, 3), torch.empty(3, 3, dtype=torch.int32))
    with FakeTensorMode(), pytest.raises(ValueError, match=rf"{SAMPLING.name}: input"):
        overload(SAMPLING.name)(torch.empty(2, 4, 4, 6), torch.empty(2, 3, 4), 3)


@pytest.mark.parametrize("name", NAMES)
def test_vmap_is_a_loop(name: str) -> None:
    several = [arguments(name, seed=seed) for seed in range(3)]
    has_batch = batched(name)
    floating = [b and a.is_floating_point() for a, b in zip(several[0], has_batch, strict=True)]
    floating = floating if any(floating) else has_batch
    # Also along another dim than the first.
    stacked = [torch.stack([made[i] for made in several], 1) if f else several[0][i] for i, f in enumerate(floating)]
    found = torch.vmap(overload(name), in_dims=tuple(1 if f else None for f in floating))(*stacked)
    looped = [overload(name)(*(m if f else s for m, s, f in zip(made, several[0], floating))) for made in several]
    if isinstance(found, tuple):
        for i, one in enumerate(found):
            all_equal(one, torch.stack([result[i] for result in looped]))
    else:
        all_equal(found, torch.stack(looped))


@pytest.mark.parametrize("name", NAMES)
def test_vmap_over_no_samples_gives_none(name: str) -> None:
    made = arguments(name)
    whole = not any(a.is_floating_point() for a in made)
    mapped = [b and (whole or a.is_floating_point()) for a, b in zip(made, batched(name), strict=True)]
    stacked = [a.new_empty(a.shape[0], 0, *a.shape[1:]) if f else a for a, f in zip(made, mapped, strict=True)]
    found = torch.vmap(overload(name), in_dims=tuple(1 if f else None for f in mapped))(*stacked)
    single = overload(name)(*made)
    pairs = zip(found, single, strict=True) if isinstance(found, tuple) else [(found, single)]
    assert all((one.shape, one.dtype) == ((0, *other.shape), other.dtype) for one, other in pairs)


def test_vmap_over_what_a_batch_shares_is_refused() -> None:
    value, shapes, *rest = arguments(SHARING.name)
    dims = (None, 0, *(None for _ in rest))
    with pytest.raises(NotImplementedError, match="takes one spatial_shapes for a whole batch"):
        torch.vmap(overload(SHARING.name), in_dims=dims)(value, torch.stack([shapes, shapes]), *rest)


@pytest.mark.parametrize("name", NAMES)
def test_autocast_computes_in_float32(name: str) -> None:
    made = arguments(name, torch.bfloat16)
    with torch.autocast("cpu", torch.bfloat16):
        found = overload(name)(*made)
    if not REGISTERED[name].autocast:  # which is about what a program calls
        all_equal(found, overload(name)(*made))
    else:
        all_equal(
            found,
            overload(name)(*(a.float() if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in made)),
        )


def test_pymluops_alone_does_not_import_torch() -> None:
    code = f"import sys, pymluops; assert 'torch' not in sys.modules; pymluops.torch.{MOVING.family}"
    subprocess.run([sys.executable, "-c", code], check=True)
