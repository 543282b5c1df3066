"""State dicts of spconv 2.2, 2.0 and 1, of mmcv and of mmdetection3d, both ways and without a call by hand."""

from __future__ import annotations

import copy
import importlib
from collections import OrderedDict
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from pymluops.torch import sparse  # noqa: E402

from .scenes import scene  # noqa: E402

nn = torch.nn


def network(layers: Any, channels: tuple[int, int, int] = (3, 4, 5)) -> Any:
    """Layers of every kind; two of them cubes, whose filters have one shape in every layout."""
    a, b, c = channels
    inverse = {"indice_key": "down"}
    return layers.SparseSequential(
        layers.SubMConv3d(a, b, 3, indice_key="one"), nn.BatchNorm1d(b), nn.ReLU(),
        layers.SubMConv3d(b, b, 3, indice_key="one", bias=False), layers.SubMConv3d(b, 3, 1),
        layers.SubMConv3d(3, 3, 3), layers.SparseConv3d(3, c, (3, 1, 2), 2, **inverse),
        layers.SparseInverseConv3d(c, a, (3, 1, 2), **inverse), layers.SparseConvTranspose3d(a, b, 3, 2, 1),
    ).double()  # fmt: skip


def saved_by(layout: str, state: Any, module: Any) -> OrderedDict[str, Any]:
    """A state dict [out, *kernel, in] as others write it; of a kernel of one they keep the memory."""
    found: OrderedDict[str, Any] = OrderedDict()
    for name, value in state.items():
        if value.dim() == 5:
            layer = module.get_submodule(name.rpartition(".")[0])
            cells = value.movedim(0, -1)
            if layer.conv1x1:
                cells = value.reshape(cells.shape)
            if layout == "RSKC":
                shape = (*cells.shape[:-2], cells.shape[-1], cells.shape[-2])
                cells = cells.reshape(shape) if layer.conv1x1 else cells.transpose(-1, -2)
            value = cells.contiguous()
        found[name] = value
    return found


def assert_same(first: Any, second: Any) -> None:
    for (name, one), other in zip(first.state_dict().items(), second.state_dict().values(), strict=True):
        assert torch.equal(one, other), name


def test_a_state_dict_has_the_layout_of_spconv(spconv: Any) -> None:
    layers = network(spconv)
    state = layers.state_dict()
    assert list(state)[:2] == ["0.weight", "0.bias"]
    assert tuple(state["0.weight"].shape) == (4, 3, 3, 3, 3)
    assert tuple(state["6.weight"].shape) == (5, 3, 1, 2, 3)
    assert {metadata["version"] for metadata in state._metadata.values() if metadata} <= {1, 2}
    other = network(spconv)
    other.load_state_dict(state)
    assert_same(other, layers)
    for layer in (layers[0], layers[5]):
        bound = (layer.in_channels * 27) ** -0.5
        assert 0.9 * bound < layer.weight.abs().max() <= bound


@pytest.mark.parametrize("layout", ["RSCK", "RSKC"])
def test_older_layouts_load(spconv: Any, layout: str) -> None:
    layers = network(spconv)
    state = saved_by(layout, layers.state_dict(), layers)
    x = scene(spconv, 3, 3)
    other = network(spconv)
    other.load_state_dict(state)
    assert_same(other, layers)
    assert torch.equal(other(x).features, layers(x).features)


def test_the_layout_of_cubes_alone_is_that_of_spconv_unless_named(spconv: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = importlib.import_module("spconv.constants")
    cubes = spconv.SparseSequential(spconv.SubMConv3d(3, 3, 3))
    state = cubes.state_dict()
    for layout in ("", "KRSC", "RSCK", "RSKC"):
        monkeypatch.setattr(constants, "SAVED_WEIGHT_LAYOUT", layout)
        saved = saved_by(layout, state, cubes) if layout.startswith("RS") else OrderedDict(state)
        other = spconv.SparseSequential(spconv.SubMConv3d(3, 3, 3))
        other.load_state_dict(saved)
        assert_same(other, cubes)
    monkeypatch.setattr(constants, "SAVED_WEIGHT_LAYOUT", "HWIO")
    with pytest.raises(ValueError, match="SPCONV_SAVED_WEIGHT_LAYOUT: expected KRSC, RSKC, RSCK or none"):
        other.load_state_dict(state)


def test_shapes_that_do_not_fit_are_reported(spconv: Any) -> None:
    with pytest.raises(RuntimeError, match="size mismatch"):
        spconv.SubMConv3d(3, 4, 3).load_state_dict(spconv.SubMConv3d(3, 5, 3).state_dict())
    with pytest.raises(RuntimeError, match="Missing key"):
        spconv.SubMConv3d(3, 4, 3).load_state_dict({})


def test_both_ways_with_the_modules_of_this_package(spconv: Any) -> None:
    layers, own = network(spconv), network(sparse)
    own.load_state_dict(layers.state_dict())
    x = scene(spconv, 3, 3)
    y = sparse.SparseConvTensor(x.features, x.indices, x.spatial_shape, x.batch_size)
    torch.testing.assert_close(own(y).features, layers(x).features, rtol=1e-13, atol=1e-13)
    back = network(spconv)
    back.load_state_dict(own.state_dict())
    assert_same(back, layers)


def test_buffers_and_missing_buffers(spconv: Any) -> None:
    layer = spconv.SparseConv3d(2, 3, 3, record_voxel_count=True)
    state = layer.state_dict()
    assert list(state) == ["weight", "bias", "max_num_voxels_during_training"]
    layer.load_state_dict(state)
    with pytest.raises(RuntimeError, match="max_num_voxels_during_training"):
        layer.load_state_dict(spconv.SparseConv3d(2, 3, 3).state_dict())


def test_the_loading_of_mmdetection3d(spconv: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It gives the class a version and a function that permutes what has another version."""

    def load(
        self: Any,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing: Any,
        other: Any,
        errors: Any,
    ) -> None:
        for name, parameter in self.named_parameters(recurse=False):
            value = state_dict[prefix + name]
            if local_metadata.get("version") != 2:
                order = [value.dim() - 1, *range(value.dim() - 1)]
                value = value.permute(*order) if value.dim() > 1 else value
            with torch.no_grad():
                parameter.copy_(value)

    monkeypatch.setattr(spconv.SparseModule, "_version", 2, raising=False)
    monkeypatch.setattr(spconv.SparseModule, "_load_from_state_dict", load)
    first = spconv.SparseSequential(spconv.SubMConv3d(3, 3, 3), spconv.SparseConv3d(3, 4, 3))
    own = copy.deepcopy(first)
    for parameter in own.parameters():
        nn.init.zeros_(parameter)
    assert {data["version"] for data in first.state_dict()._metadata.values()} == {2}
    own.load_state_dict(first.state_dict())
    assert_same(own, first)
    of_mmcv = saved_by("RSCK", first.state_dict(), first)
    own.load_state_dict(of_mmcv)
    assert_same(own, first)
