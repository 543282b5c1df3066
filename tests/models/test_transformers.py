"""Detectors and segmenters of transformers, built from a config: the same values with the kernel as without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import pymluops

#: transformers warns of processors that need torchvision.
pytestmark = pytest.mark.filterwarnings("ignore")


def _resnet(transformers: Any) -> Any:
    return transformers.ResNetConfig(
        embedding_size=8,
        hidden_sizes=[8, 12, 16, 24],
        depths=[1, 1, 1, 1],
        out_features=["stage2", "stage3", "stage4"],
        layer_type="basic",
    )


def deformable_detr(transformers: Any) -> Any:
    config = transformers.DeformableDetrConfig(
        use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=_resnet(transformers),
        d_model=32, encoder_layers=2, decoder_layers=2, encoder_ffn_dim=32, decoder_ffn_dim=32,
        encoder_attention_heads=4, decoder_attention_heads=4, num_queries=20, num_feature_levels=4,
    )  # fmt: skip
    return transformers.DeformableDetrForObjectDetection(config)


def rt_detr(transformers: Any) -> Any:
    config = transformers.RTDetrConfig(
        d_model=32, encoder_hidden_dim=32, encoder_ffn_dim=32, decoder_ffn_dim=32, num_queries=20, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, num_denoising=0, decoder_in_channels=[32, 32, 32],
    )  # fmt: skip
    return transformers.RTDetrForObjectDetection(config)


def rt_detr_v2(transformers: Any) -> Any:
    config = transformers.RTDetrV2Config(
        d_model=32, encoder_hidden_dim=32, encoder_ffn_dim=32, decoder_ffn_dim=32, num_queries=20, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, num_denoising=0, decoder_in_channels=[32, 32, 32],
    )  # fmt: skip
    return transformers.RTDetrV2ForObjectDetection(config)


def mask2former(transformers: Any) -> Any:
    config = transformers.Mask2FormerConfig(
        feature_size=32, mask_feature_size=32, hidden_dim=32, encoder_feedforward_dim=32, dim_feedforward=32,
        encoder_layers=2, decoder_layers=2, num_attention_heads=4, num_queries=10,
    )  # fmt: skip
    return transformers.Mask2FormerForUniversalSegmentation(config)


def grounding_dino(transformers: Any) -> Any:
    swin = transformers.SwinConfig(
        embed_dim=8, depths=[1, 1, 1, 1], num_heads=[1, 1, 1, 1], window_size=4,
        out_features=["stage2", "stage3", "stage4"],
    )  # fmt: skip
    bert = transformers.BertConfig(
        vocab_size=200, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    config = transformers.GroundingDinoConfig(
        backbone_config=swin, text_config=bert, d_model=32, encoder_layers=2, decoder_layers=2, encoder_ffn_dim=32,
        decoder_ffn_dim=32, encoder_attention_heads=4, decoder_attention_heads=4, num_queries=20, max_text_len=16,
    )  # fmt: skip
    return transformers.GroundingDinoForObjectDetection(config)


BUILDERS = (deformable_detr, rt_detr, rt_detr_v2, mask2former, grounding_dino)


@pytest.fixture
def transformers() -> Iterator[Any]:
    found = pytest.importorskip("transformers")
    yield found
    pymluops.uninstall("deformable_attention")


@pytest.fixture
def threads() -> Iterator[None]:
    import torch

    before = torch.get_num_threads(), pymluops.get_num_threads()
    yield
    torch.set_num_threads(before[0])
    pymluops.set_num_threads(before[1])


def _moved(model: Any, torch: Any) -> Any:
    """Move the samples off the middles of pixels, where the first ones lie: bilinear values have a kink there."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "sampling_offsets" in name:
                parameter.add_(torch.randn_like(parameter) * 0.1)
    return model.eval()


def _values(model: Any, picture: Any, torch: Any) -> tuple[list[Any], dict[str, Any]]:
    words = {"input_ids": torch.tensor([[101, 7, 8, 9, 102]])} if model.config.model_type == "grounding-dino" else {}
    found = model(pixel_values=picture, **words)
    outputs = [value for value in found.to_tuple() if torch.is_tensor(value) and value.is_floating_point()]
    sum(value.double().square().mean() for value in outputs if value.requires_grad).backward()
    gradients = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    return outputs, gradients


@pytest.mark.parametrize(
    "build", [pytest.param(build, id=build.__name__, marks=pytest.mark.turn(k)) for k, build in enumerate(BUILDERS)]
)
def test_values_and_gradients_are_the_same(transformers: Any, build: Callable[[Any], Any]) -> None:
    import torch

    torch.manual_seed(0)
    picture = torch.rand(1, 3, 96, 128, dtype=torch.float64)
    own = _moved(build(transformers).double(), torch)
    expected, gradients = _values(own, picture, torch)

    assert pymluops.install("deformable_attention") == ("deformable_attention",)
    model = build(transformers).double().eval()  # some models keep the function that they find now
    model.load_state_dict(own.state_dict())
    with torch.profiler.profile() as profile:
        found, changed = _values(model, picture, torch)
    assert any("ms_deform_attn" in event.key for event in profile.key_averages())
    assert len(found) == len(expected) and gradients.keys() == changed.keys()
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-8)
    largest = max(float(gradient.abs().max()) for gradient in gradients.values())
    for name, gradient in gradients.items():
        torch.testing.assert_close(changed[name], gradient, rtol=1e-5, atol=1e-8 * largest, msg=name)


@pytest.mark.turn(len(BUILDERS))
def test_they_are_measured(
    transformers: Any, threads: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    models = pytest.importorskip("benchmarks.attention_models")
    monkeypatch.setattr(models, "MODELS", {"small": rt_detr})
    assert models.main(["small", "--picture", "96", "128", "--rounds", "1"]) == 0
    *_, row = capsys.readouterr().out.splitlines()
    assert row.startswith("small") and all(float(figure) >= 0 for figure in row.split()[1:])


@pytest.mark.turn(len(BUILDERS))
def test_a_wrong_kernel_is_not_measured(transformers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    models = pytest.importorskip("benchmarks.attention_models")
    outputs = models._outputs
    calls = []

    def one_wrong(model: Any, picture: Any) -> Any:
        calls.append(model)
        return [value + (len(calls) == 1) for value in outputs(model, picture)]

    monkeypatch.setattr(models, "_outputs", one_wrong)
    with pytest.raises(models.WrongResultError, match="outputs differ by 1"):
        models.measure(rt_detr, 96, 128, 1)
