"""psamask for tensors of PyTorch, beyond what all functions have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import pymluops.torch as ours


@pytest.mark.parametrize("size", [np.int64(3), torch.tensor(3), torch.Size([3, 3]), np.array([3, 3]), [np.int32(3), 3]])
def test_sizes_of_masks_are_integers_of_any_kind(size: Any) -> None:
    masks = torch.rand(1, 9, 4, 5)
    wanted = ours.psa_mask(masks, 0, (3, 3))
    assert torch.equal(ours.psa_mask(masks, 0, size), wanted)
    assert torch.equal(ours.PSAMask("collect", size)(masks), wanted)
    with pytest.raises(TypeError):
        ours.psa_mask(masks, 0, 3.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "two",
    [
        [3, 2],
        torch.Size((3, 2)),
        np.array([3, 2]),
        (np.int64(3), np.int32(2)),
        torch.tensor([3, 2]),
        (torch.tensor(3), np.array(2)),
    ],
    ids=repr,
)
def test_two_sizes_of_a_mask(two: Any) -> None:
    masks = torch.rand(1, 6, 4, 4)
    wanted = ours.psa_mask(masks, 0, (3, 2))
    torch.testing.assert_close(ours.psa_mask(masks, 0, two), wanted, rtol=0, atol=0)
    torch.testing.assert_close(ours.PSAMask("collect", two)(masks), wanted, rtol=0, atol=0)
    compiled = torch.compile(ours.PSAMask("collect", two), backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(masks), wanted, rtol=0, atol=0)


@pytest.mark.parametrize("wrong", [0, -3, (3,), (3, 3, 3), (3, 2.5), (3, 0), "33", {3: 3}], ids=repr)
def test_wrong_sizes_of_a_mask(wrong: Any) -> None:
    with pytest.raises(
        ValueError, match=r"psa_mask: mask_size: expected an integer or a sequence of 2 integers from 1"
    ):
        ours.psa_mask(torch.rand(1, 9, 4, 4), 0, wrong)


def test_types_of_masks() -> None:
    masks = torch.rand(1, 9, 4, 4)
    kind: Any
    for kind in (1, np.int64(1), np.array(1), torch.tensor(1), np.str_("distribute")):
        torch.testing.assert_close(ours.psa_mask(masks, kind, 3), ours.psa_mask(masks, "distribute", 3), rtol=0, atol=0)
    for kind in (2, -1, 1.0, True, None, "1", [1], np.array([1, 0]), torch.tensor(1.0)):
        with pytest.raises(
            AssertionError, match=r"psa_mask: psa_type: expected 0 \(collect\) or 1 \(distribute\), got"
        ):
            ours.psa_mask(masks, kind, 3)
