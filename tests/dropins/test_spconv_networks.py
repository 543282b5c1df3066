"""Networks as public code builds them on spconv: backbones of OpenPCDet, VoxelNeXt, encoders, the first examples."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from .scenes import scene  # noqa: E402

nn = torch.nn
SPACE = [41, 24, 20]
_NORM = partial(nn.BatchNorm1d, eps=1e-3, momentum=0.01)


def with_features(x: Any, features: Any) -> Any:
    """Public code asks so whether it runs on spconv 2."""
    assert "replace_feature" in dir(x)
    return x.replace_feature(features)


def block(spconv: Any, inputs: int, outputs: int, kernel: Any, key: str, kind: str = "subm", **window: Any) -> Any:
    """A convolution, its normalisation and its activation."""
    layers = {"subm": spconv.SubMConv3d, "spconv": spconv.SparseConv3d, "inverse": spconv.SparseInverseConv3d}
    conv = layers[kind](inputs, outputs, kernel, indice_key=key, bias=False, **window)
    return spconv.SparseSequential(conv, _NORM(outputs), nn.ReLU())


def trained(network: nn.Module, loss: Any, steps: int = 2) -> list[float]:
    """Losses of some steps; every parameter gets a finite gradient."""
    optimizer = torch.optim.SGD(network.parameters(), 0.05)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        for name, parameter in network.named_parameters():
            assert parameter.grad is not None, name
            assert torch.isfinite(parameter.grad).all(), name
        optimizer.step()
        losses.append(value.item())
    return losses


def backbone(spconv: Any) -> Any:
    """The encoder of SECOND: four strides, the last one along z alone."""

    class Backbone(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            make = partial(block, spconv)
            self.conv_input = make(4, 8, 3, "subm1", padding=1)
            self.conv1 = make(8, 8, 3, "subm1", padding=1)
            stages = []
            for stage, (inputs, outputs, padding) in enumerate(((8, 16, 1), (16, 16, 1), (16, 16, (0, 1, 1))), 2):
                key, down = f"subm{stage}", f"spconv{stage}"
                first = make(inputs, outputs, 3, down, "spconv", stride=2, padding=padding)
                second = make(outputs, outputs, 3, key, padding=1)
                stages.append(spconv.SparseSequential(first, second, make(outputs, outputs, 3, key, padding=1)))
            self.conv2, self.conv3, self.conv4 = stages
            self.conv_out = make(16, 16, (3, 1, 1), "spconv_down2", "spconv", stride=(2, 1, 1), padding=0)

        def forward(self, batch: dict[str, Any]) -> dict[str, Any]:
            x = spconv.SparseConvTensor(
                features=batch["voxel_features"], indices=batch["voxel_coords"].int(),
                spatial_shape=np.array(SPACE), batch_size=batch["batch_size"],
            )  # fmt: skip
            first = self.conv1(self.conv_input(x))
            second = self.conv2(first)
            third = self.conv3(second)
            fourth = self.conv4(third)
            out = self.conv_out(fourth)
            scales = {"x_conv1": first, "x_conv2": second, "x_conv3": third, "x_conv4": fourth}
            return batch | {"encoded": out, "scales": scales}

    return Backbone()


def batch_of(spconv: Any) -> dict[str, Any]:
    x = scene(spconv, 3, 4, (150, 120), torch.float32, space=SPACE)
    return {"voxel_features": x.features.detach(), "voxel_coords": x.indices.float(), "batch_size": 2}


def test_the_encoder_of_second(spconv: Any) -> None:
    torch.manual_seed(0)
    network, batch = backbone(spconv), batch_of(spconv)
    found = network(batch)
    assert [x.spatial_shape for x in found["scales"].values()] == [[41, 24, 20], [21, 12, 10], [11, 6, 5], [5, 3, 3]]
    assert found["encoded"].spatial_shape == [2, 3, 3]
    with pytest.raises(ValueError, match="expected a filter that fits into"):
        spconv.SparseConv3d(16, 16, (3, 1, 1), 2)(found["encoded"])


def test_training_the_encoder_of_second(spconv: Any) -> None:
    torch.manual_seed(0)
    network, batch = backbone(spconv), batch_of(spconv)

    def loss() -> Any:
        dense = network(batch)["encoded"].dense()
        n, c, d, h, w = dense.shape
        return (dense.view(n, c * d, h, w) - 1).square().mean()

    losses = trained(network, loss, 6)
    assert losses[-1] < losses[0]


def residual(spconv: Any, channels: int, key: str) -> Any:
    class Residual(spconv.SparseModule):
        def __init__(self) -> None:
            super().__init__()
            make = partial(spconv.SubMConv3d, channels, channels, 3, 1, 1, bias=True, indice_key=key)
            self.conv1, self.bn1, self.relu = make(), _NORM(channels), nn.ReLU()
            self.conv2, self.bn2 = make(), _NORM(channels)

        def forward(self, x: Any) -> Any:
            out = self.conv1(x)
            out = with_features(out, self.relu(self.bn1(out.features)))
            out = self.conv2(out)
            out = with_features(out, self.bn2(out.features))
            return with_features(out, self.relu(out.features + x.features))

    return Residual()


def u_net(spconv: Any) -> Any:
    """The U-Net of Part-A2: inverse layers go back along the keys of the way down."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            make = partial(block, spconv)
            self.first = spconv.SparseSequential(
                spconv.SubMConv3d(4, 8, 3, padding=1, bias=False, indice_key="subm1"), _NORM(8), nn.ReLU()
            )
            self.down2 = make(8, 16, 3, "spconv2", "spconv", stride=2, padding=1)
            self.down3 = make(16, 16, 3, "spconv3", "spconv", stride=2, padding=1)
            self.side3, self.merge3 = residual(spconv, 16, "subm3"), make(32, 16, 3, "subm3", padding=1)
            self.up3 = make(16, 16, 3, "spconv3", "inverse")
            self.side2, self.merge2 = residual(spconv, 16, "subm2"), make(32, 16, 3, "subm2", padding=1)
            self.up2 = make(16, 8, 3, "spconv2", "inverse")
            self.last = make(8, 8, 3, "subm1", padding=1)

        def up(self, lateral: Any, bottom: Any, side: Any, merge: Any, inverse: Any) -> Any:
            beside = side(lateral)
            x = with_features(beside, torch.cat([bottom.features, beside.features], 1))
            merged = merge(x)
            rows, channels = x.features.shape
            reduced = x.features.view(rows, merged.features.shape[1], -1).sum(2)
            assert channels == 2 * merged.features.shape[1]
            return inverse(with_features(x, merged.features + reduced))

        def forward(self, x: Any) -> Any:
            first = self.first(x)
            second = self.down2(first)
            third = self.down3(second)
            up = self.up(third, third, self.side3, self.merge3, self.up3)
            up = self.up(second, up, self.side2, self.merge2, self.up2)
            return self.last(up)

    return Net()


def test_the_u_net_of_part_a2(spconv: Any) -> None:
    torch.manual_seed(0)
    network = u_net(spconv)
    x = scene(spconv, 3, 4, (60, 70), torch.float32, space=SPACE)
    out = network(x)
    assert torch.equal(out.indices, x.indices)
    assert set(out.indice_dict) == {"subm1", "subm2", "spconv2"}  # those of the branch that goes on
    target = torch.randn(out.features.shape)
    losses = trained(network, lambda: (network(x).features - target).square().mean(), 6)
    assert losses[-1] < losses[0]


def voxel_next(spconv: Any) -> Any:
    """VoxelNeXt: rows of three strides on one grid, then the sum of all heights."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            make = partial(block, spconv)
            self.conv4 = spconv.SparseSequential(
                make(4, 8, 3, "spconv4", "spconv", stride=2, padding=1), residual(spconv, 8, "res4")
            )
            self.conv5 = make(8, 8, 3, "spconv5", "spconv", stride=2, padding=1)
            self.conv6 = make(8, 8, 3, "spconv6", "spconv", stride=2, padding=1)
            self.conv_out = spconv.SparseSequential(
                spconv.SparseConv2d(8, 8, 3, stride=1, padding=1, bias=False, indice_key="spconv_down2"), _NORM(8),
                nn.ReLU(),
            )  # fmt: skip
            self.shared = spconv.SparseSequential(spconv.SubMConv2d(8, 8, 3, 1, 1, bias=True), nn.ReLU(True))

        def from_above(self, x: Any) -> Any:
            places, group = torch.unique(x.indices[:, [0, 2, 3]], dim=0, return_inverse=True)
            features = x.features.new_zeros((places.shape[0], x.features.shape[1]))
            features.index_add_(0, group, x.features)
            return spconv.SparseConvTensor(
                features=features, indices=places, spatial_shape=x.spatial_shape[1:], batch_size=x.batch_size
            )

        def forward(self, x: Any) -> Any:
            fourth = self.conv4(x)
            fifth = self.conv5(fourth)
            sixth = self.conv6(fifth)
            fifth.indices[:, 1:] *= 2
            sixth.indices[:, 1:] *= 4
            rows = [fourth, fifth, sixth]
            fourth = fourth.replace_feature(torch.cat([one.features for one in rows]))
            fourth.indices = torch.cat([one.indices for one in rows])
            return self.shared(self.conv_out(self.from_above(fourth)))

    return Net()


def test_voxel_next(spconv: Any) -> None:
    torch.manual_seed(0)
    network = voxel_next(spconv)
    x = scene(spconv, 3, 4, (80, 50), torch.float32, space=SPACE)
    before = x.indices.clone()
    out = network(x)
    assert out.spatial_shape == [12, 10]
    assert torch.equal(x.indices, before)
    losses = trained(network, lambda: (network(x).dense() - 1).square().mean(), 4)
    assert losses[-1] < losses[0]


def test_a_basic_block_of_two_bases(spconv: Any) -> None:
    """mmdetection3d derives blocks from a block of images and from SparseModule."""

    class BasicBlock(nn.Module):
        def __init__(self, channels: int, conv: Any) -> None:
            super().__init__()
            self.conv1, self.conv2 = conv(channels, channels), conv(channels, channels)
            self.norm1, self.norm2, self.relu = nn.BatchNorm1d(channels), nn.BatchNorm1d(channels), nn.ReLU()

    class SparseBasicBlock(BasicBlock, spconv.SparseModule):
        def __init__(self, channels: int) -> None:
            spconv.SparseModule.__init__(self)
            BasicBlock.__init__(self, channels, partial(spconv.SubMConv3d, kernel_size=3, padding=1, indice_key="k"))

        def forward(self, x: Any) -> Any:
            out = self.conv1(x)
            out = with_features(out, self.relu(self.norm1(out.features)))
            out = self.conv2(out)
            return with_features(out, self.relu(self.norm2(out.features) + x.features))

    x = scene(spconv, 3, 4, (60,), torch.float32, space=SPACE)
    network = spconv.SparseSequential(SparseBasicBlock(4), SparseBasicBlock(4))
    assert network(x).features.shape == (60, 4)
    assert torch.equal(spconv.SparseConvTensor(x.features, x.indices, torch.tensor(SPACE), 1).dense(), x.dense())


def test_the_first_examples(spconv: Any) -> None:
    class Example(nn.Module):
        def __init__(self, shape: list[int]) -> None:
            super().__init__()
            self.net = spconv.SparseSequential(
                spconv.SparseConv3d(4, 8, 3), nn.BatchNorm1d(8), nn.ReLU(),
                spconv.SubMConv3d(8, 8, 3, indice_key="subm0"), nn.BatchNorm1d(8), nn.ReLU(),
                spconv.SubMConv3d(8, 8, 3, indice_key="subm0"), nn.BatchNorm1d(8), nn.ReLU(),
                spconv.SparseConvTranspose3d(8, 8, 3, 2), nn.BatchNorm1d(8), nn.ReLU(), spconv.ToDense(),
                nn.Conv3d(8, 8, 3), nn.BatchNorm3d(8), nn.ReLU(),
            )  # fmt: skip
            self.shape = shape

        def forward(self, features: Any, places: Any, batch_size: int) -> Any:
            return self.net(spconv.SparseConvTensor(features, places.int(), self.shape, batch_size))

    x = scene(spconv, 3, 4, (30, 40), torch.float32, space=[8, 8, 8])
    network = Example([8, 8, 8])
    out = network(x.features, x.indices, 2)
    assert out.shape == (2, 8, 11, 11, 11)
    trained(network, lambda: network(x.features.detach(), x.indices, 2).square().mean(), 1)

    class Back(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = spconv.SparseSequential(
                spconv.SparseConv3d(4, 8, 3, 2, indice_key="cp0"), spconv.SparseInverseConv3d(8, 4, 3, "cp0")
            )

        def forward(self, x: Any) -> Any:
            return self.net(x)

    inside = scene(spconv, 3, 4, (512,), torch.float32, space=[8, 8, 8])
    assert Back()(inside).indices is inside.indices
    dense = torch.randn(1, 8, 8, 8, 4)
    assert torch.equal(spconv.SparseConvTensor.from_dense(dense).dense(channels_first=False), dense)
