"""Tensors that hold the right values in another shape: read and written by their memory, as in a compiled mmcv."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from pymluops.mmcv._extension import implemented
from pymluops.mmcv._names import MODULE_OF

pytest.importorskip("torch")  # before flat_calls, which imports a module of tests that is skipped too

from .flat_calls import TELL_SIZES, WITHOUT, arguments


@pytest.fixture(scope="module")
def calls(torch: Any, ext: ModuleType) -> dict[str, tuple[Any, ...]]:
    torch.manual_seed(0)
    return arguments(torch, ext)


def leaves(torch: Any, found: Any) -> Iterator[Any]:
    if isinstance(found, torch.Tensor):
        yield found.flatten()
    elif isinstance(found, (list, tuple)):
        for one in found:
            yield from leaves(torch, one)
    elif isinstance(found, (int, float)):
        yield torch.tensor(found)


def copied(torch: Any, tensor: Any) -> Any:
    """A tensor that the call may write, contiguous or not as this one."""
    if tensor.is_contiguous():
        return tensor.clone()
    return torch.zeros((*tensor.shape, 2), dtype=tensor.dtype)[..., 0].copy_(tensor)


def computed(torch: Any, ext: ModuleType, name: str, given: tuple[Any, ...]) -> list[Any]:
    """All that a call returns and writes."""
    kept = [
        one if not isinstance(one, torch.Tensor) else one.clone(memory_format=torch.preserve_format) for one in given
    ]
    returned = getattr(ext, name)(*kept)
    return [*leaves(torch, returned), *leaves(torch, kept)]


def agree(torch: Any, one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(
        torch.equal(torch.nan_to_num(a.double()), torch.nan_to_num(b.double())) for a, b in zip(one, other, strict=True)
    )


def test_the_table_has_every_function(calls: dict[str, Any]) -> None:
    assert {*calls} | {*WITHOUT} == {*MODULE_OF} and {*TELL_SIZES} <= {*calls}


@pytest.mark.parametrize("name", sorted({*MODULE_OF} - {*WITHOUT}))
def test_other_shapes_of_the_same_values_give_the_same(
    torch: Any, ext: ModuleType, calls: dict[str, tuple[Any, ...]], name: str
) -> None:
    given, names = calls[name], list(inspect.signature(implemented()[name]).parameters)
    expected = computed(torch, ext, name, given)
    tell = TELL_SIZES.get(name, "").split()
    for i, tensor in enumerate(given):
        if not isinstance(tensor, torch.Tensor) or not tensor.numel():
            continue
        others = {"one more dim": tensor[..., None], "strided": torch.stack([tensor, tensor], -1)[..., 0]}
        if names[i] not in tell:
            others |= {"a line": tensor.reshape(-1), "rows": tensor.reshape(-1, tensor.shape[-1] if tensor.ndim else 1)}
        for kind, other in others.items():
            if kind == "one more dim" and names[i] in ("filters", "dets", "outGrad", "input") and names[i] in tell:
                continue  # its last dim says how many columns or channels there are
            call = (*given[:i], other, *given[i + 1 :])
            assert agree(torch, computed(torch, ext, name, call), expected), (names[i], kind)


@pytest.mark.parametrize(
    ("name", "argument"), [(name, argument) for name, tell in TELL_SIZES.items() for argument in tell.split()]
)
def test_a_tensor_that_tells_sizes_is_refused_flat(
    torch: Any, ext: ModuleType, calls: dict[str, tuple[Any, ...]], name: str, argument: str
) -> None:
    i = list(inspect.signature(implemented()[name]).parameters).index(argument)
    call = (*calls[name][:i], calls[name][i].reshape(-1), *calls[name][i + 1 :])
    with pytest.raises(RuntimeError, match=rf"{name}: \w+: expected"):
        getattr(ext, name)(*call)


@pytest.mark.parametrize("shape", [(31, 5), (33, 5), (32, 4), (2, 4, 5, 4), (5, 32), (2, 16, 4, 5)])
def test_other_counts_and_orders_are_refused_and_nothing_is_written(
    torch: Any, ext: ModuleType, shape: tuple[int, ...]
) -> None:
    features, result = torch.rand(2, 3, 4, 4), torch.full((2, 3, 4, 4), 7.0)
    message = r"rotated_feature_align_forward: best_bboxes: expected shape \[2, 4, 4, 5\], got shape \["
    with pytest.raises(RuntimeError, match=message):
        ext.rotated_feature_align_forward(features, torch.rand(shape), result, 1.0, 1)
    assert (result == 7).all()


def test_results_with_strides_in_another_shape_are_written(torch: Any, ext: ModuleType) -> None:
    features, boxes = torch.rand(2, 3, 4, 4), torch.rand(2, 4, 4, 5) * 4
    expected, memory = torch.zeros(2, 3, 4, 4), torch.zeros(6, 4, 4, 2)
    ext.rotated_feature_align_forward(features, boxes, expected, 1.0, 5)
    ext.rotated_feature_align_forward(features, boxes.reshape(-1, 5), memory[..., 0], 1.0, 5)
    assert torch.equal(memory[..., 0].reshape(2, 3, 4, 4), expected) and not memory[..., 1].any()


def test_a_longer_list_of_kept_boxes_keeps_what_is_behind(torch: Any, ext: ModuleType) -> None:
    boxes = torch.tensor([[0.0, 0, 0, 2, 2, 2, 0], [9, 9, 0, 2, 2, 2, 0]])
    keep, count = torch.full((5,), 9), torch.zeros((), dtype=torch.int64)
    ext.iou3d_nms3d_forward(boxes, keep, count, 0.5)
    assert keep.tolist() == [0, 1, 9, 9, 9] and int(count) == 2
    with pytest.raises(RuntimeError, match="keep: expected shape"):
        ext.iou3d_nms3d_forward(boxes, keep[:1], count, 0.5)
