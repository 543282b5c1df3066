"""The modules of `pymluops.torch` against mmcv's own of these names on our extension, with the same weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("mmcv.version", reason="mmcv-lite is not installed", exc_type=ImportError)

pytestmark = [pytest.mark.thorough, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def theirs() -> Iterator[Any]:
    import pymluops.mmcv

    if not pymluops.mmcv.install():
        pytest.skip("mmcv has a compiled extension")
    import mmcv.ops

    yield mmcv.ops
    pymluops.mmcv.uninstall()


@pytest.fixture(scope="module")
def ours(torch: Any) -> Any:
    import pymluops.torch

    return pymluops.torch


def maps(torch: Any, *shape: int) -> Any:
    return torch.randn(shape or (2, 4, 7, 8))


def regions(torch: Any) -> Any:
    return torch.tensor([[0.0, 2, 3, 14, 12], [1, 0, 1, 9, 13]])


def inner(torch: Any) -> Any:
    """Regions away from the outermost pixels, beside which mmcv's gradient of offsets is not the true one."""
    return torch.tensor([[0.0, 5, 5, 9, 8], [1, 4, 4, 8, 8]])


def turned(torch: Any) -> Any:
    return torch.tensor([[0.0, 8, 7, 9, 6, 0.5], [1, 6, 6, 7, 9, -2.0]])


def cloud(torch: Any) -> Any:
    return torch.rand(2, 16, 3), torch.rand(2, 4, 3), torch.rand(2, 5, 16)


#: Name, arguments of the module, and of a call; a representation that differs from mmcv's ends
#: with False.
CASES: dict[str, tuple[str, tuple[Any, ...], dict[str, Any], Any, bool]] = {
    "dcn": ("DeformConv2d", (4, 6, 3), {"padding": 1, "groups": 2}, lambda t: (maps(t), maps(t, 2, 18, 7, 8)), True),
    "dcn of small maps": (
        "DeformConv2d", (4, 6, 5), {"padding": 2}, lambda t: (maps(t, 2, 4, 3, 9), maps(t, 2, 50, 3, 9)), True,
    ),
    "dcn pack": ("DeformConv2dPack", (4, 6, 3), {"stride": 2, "deform_groups": 2}, lambda t: (maps(t),), True),
    "dcn v2": (
        "ModulatedDeformConv2d", (4, 6, (3, 1)), {"padding": (1, 0)},
        lambda t: (maps(t), maps(t, 2, 6, 7, 8), maps(t, 2, 3, 7, 8)), True,
    ),
    "dcn v2 pack": (
        "ModulatedDeformConv2dPack", (4, 6, 3), {"dilation": 2, "bias": "auto"}, lambda t: (maps(t),), True,
    ),
    "dcn v2 without a bias": ("ModulatedDeformConv2dPack", (4, 6, 3), {"bias": False}, lambda t: (maps(t),), True),
    "moved bins": ("DeformRoIPool", ((2, 3), 0.5, 2), {}, lambda t: (maps(t), inner(t), maps(t, 2, 2, 2, 3)), True),
    "moved bins pack": ("DeformRoIPoolPack", ((2, 3), 4, 8, 0.5, 2), {}, lambda t: (maps(t), inner(t)), True),
    "weighted bins": ("ModulatedDeformRoIPoolPack", (2, 4, 8, 0.5, 2), {}, lambda t: (maps(t), inner(t)), True),
    "precise": ("PrRoIPool", ((2, 3), 0.5), {}, lambda t: (maps(t), regions(t)), True),
    "aligned": ("RoIAlign", (3, 0.5, 2), {}, lambda t: (maps(t), regions(t)), True),
    "largest": ("RoIAlign", ((2, 3), 0.5, 2, "max", False), {}, lambda t: (maps(t), regions(t)), True),
    "rotated": ("RoIAlignRotated", (3, 0.5, 2), {"clockwise": True}, lambda t: (maps(t), turned(t)), True),
    "turned": (
        "RiRoIAlignRotated", ((3, 3), 0.5, 2, 4), {}, lambda t: (maps(t, 2, 8, 7, 8), turned(t)), True,
    ),
    # mmcv's representation closes three parentheses that it has not opened.
    "curved": (
        "BezierAlign", ((3, 4), 0.5, 2), {},
        lambda t: (maps(t), t.cat([regions(t)[:, :1], t.rand(2, 16) * 12], 1)), False,
    ),
    "upsampled": ("CARAFEPack", (4, 2), {"up_kernel": 3, "up_group": 2}, lambda t: (maps(t),), True),
    "naive": ("CARAFENaive", (3, 1, 2), {}, lambda t: (maps(t), maps(t, 2, 9, 14, 16)), True),
    "carafe": ("CARAFE", (3, 1, 2), {}, lambda t: (maps(t), maps(t, 2, 9, 14, 16)), True),
    "groups": ("QueryAndGroup", (0.4, 6), {"normalize_xyz": True}, cloud, True),
    "groups and more": (
        "QueryAndGroup", (0.4, 6, 0.1), {"return_grouped_xyz": True, "return_grouped_idx": True}, cloud, True,
    ),
    "uniform groups": (
        "QueryAndGroup", (0.4, 6), {"uniform_sample": True, "return_unique_cnt": True, "return_grouped_idx": True},
        cloud, True,
    ),
    "nearest": ("QueryAndGroup", (None, 6), {"use_xyz": False}, cloud, True),
    "everything": ("GroupAll", (), {}, cloud, True),
    "samples": ("PointsSampler", ([3, 2], ["FS", "D-FPS"], [8, -1]), {}, lambda t: cloud(t)[::2], True),
    "samples of features": ("PointsSampler", ([3], ["F-FPS"]), {}, lambda t: cloud(t)[::2], True),
}  # fmt: skip


def leaves(torch: Any, found: Any) -> list[Any]:
    return [found] if isinstance(found, torch.Tensor) else list(found)


def run(torch: Any, module: Any, given: tuple[Any, ...]) -> list[Any]:
    """Results, and gradients of all parameters and arguments."""
    torch.manual_seed(1)
    given = tuple(one.clone().requires_grad_() for one in given)
    found = leaves(torch, module(*given))
    floats = [one for one in found if one.is_floating_point() and one.requires_grad]
    sources = [*module.parameters(), *given]
    gradients = (
        torch.autograd.grad(sum(one.square().sum() for one in floats), sources, allow_unused=True) if floats else ()
    )
    # What no gradient flows to has None here, and None or zeros in mmcv.
    return [*found, *(torch.zeros_like(one) if grad is None else grad for one, grad in zip(sources, gradients))]


@pytest.mark.parametrize("case", CASES)
def test_the_same_weights_give_the_same(torch: Any, theirs: Any, ours: Any, case: str) -> None:
    name, arguments, options, call, same_text = CASES[case]
    torch.manual_seed(0)
    mine, other = getattr(ours, name)(*arguments, **options), getattr(theirs, name)(*arguments, **options)
    for parameter in other.parameters():
        torch.nn.init.uniform_(parameter, -0.4, 0.4)
    assert [*mine.state_dict()] == [*other.state_dict()]
    mine.load_state_dict(other.state_dict())
    back = getattr(theirs, name)(*arguments, **options)
    back.load_state_dict(mine.state_dict())
    for one, another in zip(mine.state_dict().values(), back.state_dict().values(), strict=True):
        assert torch.equal(one, another)
    given = call(torch)
    for one, another in zip(run(torch, mine, given), run(torch, other, given), strict=True):
        torch.testing.assert_close(one, another, rtol=1e-4, atol=1e-4)
    assert not same_text or repr(mine) == repr(other)


@pytest.mark.parametrize("name", ["DeformConv2d", "ModulatedDeformConv2d", "DeformConv2dPack", "CARAFEPack"])
def test_parameters_begin_in_the_same_range(torch: Any, theirs: Any, ours: Any, name: str) -> None:
    arguments = (16, 2) if name == "CARAFEPack" else (16, 32, 3)
    mine, other = (getattr(package, name)(*arguments).state_dict() for package in (ours, theirs))
    for key, value in mine.items():
        if value.numel() > 64 or not other[key].any():
            assert float(value.std()) == pytest.approx(float(other[key].std()), rel=0.1), key


def test_suppression_within_classes(torch: Any, theirs: Any, ours: Any) -> None:
    torch.manual_seed(0)
    corners = torch.rand(60, 2) * 20
    boxes = torch.cat([corners, corners + 1 + torch.rand(60, 2) * 6], 1)
    turned = torch.cat([boxes[:, :2] + 5, boxes[:, 2:] - boxes[:, :2], torch.rand(60, 1)], 1)
    scores, classes = torch.rand(60), torch.randint(0, 4, (60,))
    for given, options in (
        (boxes, {"type": "nms", "iou_threshold": 0.3}),
        (boxes, {"type": "nms", "iou_threshold": 0.3, "split_thr": 10, "max_num": 9}),
        (boxes, {"type": "soft_nms", "iou_threshold": 0.3, "min_score": 0.1}),
        (boxes, {"iou_threshold": 0.3, "class_agnostic": True}),
        (boxes, None),
        (turned, {"type": "nms_rotated", "iou_threshold": 0.1}),
    ):
        for one, another in zip(
            ours.batched_nms(given, scores, classes, options), theirs.batched_nms(given, scores, classes, options)
        ):
            torch.testing.assert_close(one, another)
    above = torch.cat([boxes, torch.rand(60, 1)], 1)
    assert torch.equal(ours.nms_bev(above, scores, 0.1, 40, 9), theirs.nms_bev(above, scores, 0.1, 40, 9))
    assert torch.equal(ours.nms_normal_bev(above, scores, 0.1), theirs.nms_normal_bev(above, scores, 0.1))
