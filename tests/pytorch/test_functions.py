"""The functions: values against oracles in float64, layouts, types, edges and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import pymluops
import pymluops.torch as ours
from pymluops.oracle import border_align, ms_deform_attn, psamask, three_interpolate, tin_shift
from support.torch_samples import FUNCTIONS, all_equal, arguments, tensors

#: Type, and how far a result may be from one in float64.
TYPES = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def functions(dtype: torch.dtype) -> dict[str, tuple[Any, tuple[Any, ...], Any]]:
    """For each function its arguments and the result in float64, from the arguments as they were rounded."""

    def wide(tensor: torch.Tensor) -> np.ndarray:
        return (tensor.double() if tensor.is_floating_point() else tensor.int()).numpy()

    clip, shifts = arguments("tin_shift_forward", dtype)
    masks = arguments("psamask_forward", dtype)[0].permute(0, 3, 1, 2)
    features, boxes, pool = arguments("border_align_forward", dtype)
    points, indices, weights = arguments("three_interpolate_forward", dtype)
    target, source = arguments("three_nn_forward", dtype)
    attention = arguments("ms_deform_attn_forward", dtype)
    spread = [
        torch.from_numpy(psamask.forward(wide(masks.permute(0, 2, 3, 1)), kind, 3, 2)).permute(0, 3, 1, 2)
        for kind in (0, 1)
    ]
    borders = border_align.forward(wide(features), wide(boxes), pool, real=np.float64)[0]
    gaps = np.sort(np.sqrt(((wide(target)[:, :, None] - wide(source)[:, None]) ** 2).sum(-1)), -1)[..., :3]
    attended = ms_deform_attn.forward(ms_deform_attn.Inputs(*(wide(a) for a in attention[:5])))
    return {
        "tin_shift": (ours.tin_shift, (clip, shifts), tin_shift.shift(wide(clip), wide(shifts))),
        "collect": (ours.psa_mask, (masks, 0, (3, 2)), spread[0]),
        "distribute": (ours.psa_mask, (masks, "distribute", (3, 2)), spread[1]),
        "border_align": (
            ours.border_align,
            (features.permute(0, 3, 1, 2), boxes, pool),
            borders.transpose(0, 3, 1, 2),
        ),
        "three_interpolate": (
            ours.three_interpolate,
            (points, indices, weights),
            three_interpolate.forward(wide(points), wide(indices), wide(weights)),
        ),
        "three_nn": (lambda *a: ours.three_nn(*a)[0], (target, source), gaps),
        "ms_deform_attn": (ours.ms_deform_attn, attention, attended.reshape(*attended.shape[:2], -1)),
    }


NAMES = ["tin_shift", "collect", "distribute", "border_align", "three_interpolate", "three_nn", "ms_deform_attn"]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_values(name: str, dtype: torch.dtype) -> None:
    function, made, wanted = functions(dtype)[name]
    found = function(*made)
    assert found.dtype == dtype and found.is_contiguous()
    exact = name in ("tin_shift", "collect", "distribute")
    tolerance = 0 if exact else TYPES[dtype]
    all_equal(found.double(), torch.as_tensor(wanted).double(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", NAMES)
def test_arrays_that_are_not_contiguous(name: str) -> None:
    function, made, _ = functions(torch.float32)[name]
    for change in (
        lambda a: torch.stack([a, a], -1)[..., 0],
        lambda a: (
            a.contiguous(memory_format=torch.channels_last)
            if a.ndim == 4
            else a.mT.contiguous().mT
            if a.ndim > 1
            else a
        ),
        lambda a: a[:1].expand(a.shape) if a.shape[0] == 2 else a,
    ):
        changed = tuple(change(a) if isinstance(a, torch.Tensor) else a for a in made)
        packed = tuple(a.contiguous() if isinstance(a, torch.Tensor) else a for a in changed)
        all_equal(function(*changed), function(*packed))


@pytest.mark.parametrize("name", NAMES)
def test_64_bit_integers_and_pending_negation(name: str) -> None:
    function, made, _ = functions(torch.float32)[name]
    wanted = function(*made)
    long = tuple(a.long() if isinstance(a, torch.Tensor) and not a.is_floating_point() else a for a in made)
    all_equal(function(*long), wanted)
    negated = torch.complex(torch.zeros_like(made[0]), -made[0]).conj().imag  # a view with the values of made[0]
    assert negated.is_neg()
    all_equal(function(negated, *made[1:]), wanted)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_nothing_to_compute(dtype: torch.dtype) -> None:
    def empty(*shape: int) -> torch.Tensor:
        return torch.empty(shape, dtype=dtype).requires_grad_()

    def none(*shape: int) -> torch.Tensor:
        return torch.empty(shape, dtype=torch.int32)

    assert ours.tin_shift(empty(0, 4, 6, 3), none(0, 3)).shape == (0, 4, 6, 3)
    assert ours.tin_shift(empty(2, 0, 6, 3), none(2, 3)).shape == (2, 0, 6, 3)
    assert ours.psa_mask(empty(0, 9, 4, 5), 0, 3).shape == (0, 20, 4, 5)
    features = torch.rand(1, 8, 4, 5, dtype=dtype, requires_grad=True)
    found = ours.border_align(features, torch.empty(1, 0, 4, dtype=dtype), 3)
    found.sum().backward()
    assert found.shape == (1, 2, 0, 4) and features.grad is not None and not features.grad.any()
    points = torch.rand(2, 3, 7, dtype=dtype, requires_grad=True)
    found = ours.three_interpolate(points, none(2, 0, 3), torch.empty(2, 0, 3, dtype=dtype))
    found.sum().backward()
    assert found.shape == (2, 3, 0) and points.grad is not None and not points.grad.any()
    dist, idx = ours.three_nn(torch.rand(1, 2, 3, dtype=dtype), torch.empty(1, 0, 3, dtype=dtype))
    assert dist.isinf().all() and not idx.any()
    assert not ours.ball_query(0, 1, 3, torch.empty(1, 0, 3, dtype=dtype), torch.rand(1, 2, 3, dtype=dtype)).any()
    value = torch.rand(2, 15, 2, 3, dtype=dtype, requires_grad=True)
    shapes, starts = torch.tensor([[2, 3], [3, 3]]), torch.tensor([0, 6])
    found = ours.ms_deform_attn(value, shapes, starts, empty(2, 0, 2, 2, 2, 2), empty(2, 0, 2, 2, 2))
    found.sum().backward()
    assert found.shape == (2, 0, 6) and value.grad is not None and not value.grad.any()
    with pytest.raises(pymluops.BadParamError):  # an index cannot be right
        ours.three_interpolate(empty(1, 2, 0), none(1, 4, 3), torch.rand(1, 4, 3, dtype=dtype))


def test_errors_are_those_of_mmcv() -> None:
    clip, shifts = arguments("tin_shift_forward")
    for wrong in (shifts[:1], shifts[:, :0], torch.zeros(2, 4, dtype=torch.int32)):
        with pytest.raises(ValueError, match="shifts: expected"):
            ours.tin_shift(clip, wrong)
    for call in (
        lambda: ours.psa_mask(torch.rand(1, 8, 4, 4), 0, 3),
        lambda: ours.psa_mask(torch.rand(1, 9, 4, 4), 2, 3),
        lambda: ours.psa_mask(torch.rand(9, 4, 4), 0, 3),
        lambda: ours.border_align(torch.rand(1, 8, 4, 4), torch.rand(1, 5, 3), 3),
        lambda: ours.border_align(torch.rand(1, 9, 4, 4), torch.rand(1, 5, 4), 3),
    ):
        with pytest.raises(AssertionError, match="expected"):
            call()
    points, indices, weights = arguments("three_interpolate_forward")
    indices[1, 1, 1] = 7
    with pytest.raises(ValueError, match=r"0 <= value < M=7, got 7 at batch 1, position 1, neighbour 1"):
        ours.three_interpolate(points, indices, weights)
    with pytest.raises(ValueError, match="weights: expected dtype float32 like features, got float64"):
        ours.three_interpolate(points, indices, weights.double())
    with pytest.raises(ValueError, match="float32, float16, bfloat16 or float64, got int64"):
        ours.tin_shift(torch.zeros(2, 4, 6, 3, dtype=torch.int64), shifts)
    with pytest.raises(ValueError, match="int32 or int64, got float32"):
        ours.tin_shift(clip, shifts.float())


def test_results_do_not_depend_on_the_threads_of_torch() -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        ours.three_nn(torch.rand(1, 2, 3), torch.rand(1, 2, 3))  # so that 1 is another number than in the last call
        results = []
        for threads in (1, 3):
            torch.set_num_threads(threads)
            results.append([function(*made) for function, made, _ in functions(torch.float32).values()])
            assert pymluops.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
        ours.three_nn(torch.rand(1, 2, 3), torch.rand(1, 2, 3))  # tells the library
    for one, other in zip(*results, strict=True):
        all_equal(one, other)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arrays_in_place_of_tensors_are_refused_by_name(name: str) -> None:
    made = tensors(name)
    for i in range(len(made)):
        given = [one.numpy() if i == k else one for k, one in enumerate(made)]
        with pytest.raises(TypeError, match=r"^[a-z_0-9]+: [a-z_0-9]+: expected a tensor of PyTorch, got ndarray$"):
            FUNCTIONS[name](*given)


@pytest.mark.parametrize("size", ["3", 3.0, None, True, torch.tensor(3.0)])
def test_the_number_of_bins_is_an_integer(size: Any) -> None:
    maps, rois = torch.rand(2, 18, 5, 6), torch.tensor([[0.0, 1, 1, 4, 4]])
    with pytest.raises(TypeError, match=r"^ps_roi_pool: output_size: expected an integer"):
        ours.ps_roi_pool(maps, rois, size)
