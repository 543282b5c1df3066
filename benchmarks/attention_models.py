"""Networks of transformers with deformable attention, with the kernel and as they are, on a CPU.

Run it as ``python3 -m benchmarks.attention_models`` in the root of a clone; transformers and timm
must be there. The networks have the sizes of their default configs and random weights; nothing is
downloaded. Both ways take turns on the same picture and the same weights: a forward pass without
gradients, and a training step, which is forward, backward of the squares of all outputs, and AdamW.
Before, the outputs are compared.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import pymluops
from benchmarks.problem import WrongResultError
from benchmarks.threads import set_all_threads

_TOLERANCE = 1e-3
_HEAD = ("forward s", "as it is", "ratio", "step s", "as it is", "ratio")


def _deformable_detr(transformers: Any) -> Any:
    config = transformers.DeformableDetrConfig(use_pretrained_backbone=False)
    return transformers.DeformableDetrForObjectDetection(config)


def _rt_detr(transformers: Any) -> Any:
    return transformers.RTDetrForObjectDetection(transformers.RTDetrConfig())


def _rt_detr_v2(transformers: Any) -> Any:
    return transformers.RTDetrV2ForObjectDetection(transformers.RTDetrV2Config())


def _grounding_dino(transformers: Any) -> Any:
    return transformers.GroundingDinoForObjectDetection(transformers.GroundingDinoConfig())


def _mask2former(transformers: Any) -> Any:
    return transformers.Mask2FormerForUniversalSegmentation(transformers.Mask2FormerConfig())


MODELS: dict[str, Callable[[Any], Any]] = {
    "DeformableDetr": _deformable_detr,
    "RT-DETR": _rt_detr,
    "RT-DETRv2": _rt_detr_v2,
    "GroundingDino": _grounding_dino,
    "Mask2Former": _mask2former,
}


def _outputs(model: Any, picture: Any) -> list[Any]:
    """Return the outputs that depend on weights; GroundingDino reads five words too."""
    torch = importlib.import_module("torch")
    words = {"input_ids": torch.tensor([[101, 7, 8, 9, 102]])} if model.config.model_type == "grounding-dino" else {}
    found = model(pixel_values=picture, **words).to_tuple()
    return [value for value in found if torch.is_tensor(value) and value.is_floating_point()]


def _step(model: Any, picture: Any, optimizer: Any) -> None:
    optimizer.zero_grad()
    loss: Any = sum(value.square().mean() for value in _outputs(model, picture) if value.requires_grad)
    loss.backward()
    optimizer.step()


def _pair(build: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Return a network that uses the kernel and its twin as it is; some choose the function when they are built."""
    torch, transformers = importlib.import_module("torch"), importlib.import_module("transformers")
    torch.manual_seed(0)
    own = build(transformers).eval()
    pymluops.install("deformable_attention")
    ours = build(transformers).eval()
    ours.load_state_dict(own.state_dict())
    return ours, own


def _compare(ours: Any, own: Any, picture: Any) -> None:
    with importlib.import_module("torch").no_grad():
        found = _outputs(ours, picture)
        pymluops.uninstall("deformable_attention")
        expected = _outputs(own, picture)
    for one, other in zip(found, expected, strict=True):
        worst = float((one - other).abs().nan_to_num().max())
        if not worst <= _TOLERANCE * max(1.0, float(other.nan_to_num().abs().max())):
            raise WrongResultError(f"{type(own).__name__}: outputs differ by {worst:.2g}")


def measure(build: Callable[[Any], Any], height: int, width: int, rounds: int) -> list[float]:
    """Return the median seconds of a forward pass, as it is, the ratio, and the same for a step."""
    torch = importlib.import_module("torch")
    picture = torch.rand(1, 3, height, width, generator=torch.Generator().manual_seed(1))
    models = _pair(build)
    _compare(*models, picture)
    optimizers = [torch.optim.AdamW(model.parameters(), lr=1e-6) for model in models]
    times: list[list[float]] = [[], [], [], []]
    for turn in range(rounds + 1):
        for k, model in enumerate(models):
            (pymluops.uninstall if k else pymluops.install)("deformable_attention")
            begin = time.perf_counter()
            with torch.no_grad():
                _outputs(model, picture)
            middle = time.perf_counter()
            _step(model, picture, optimizers[k])
            if turn:  # the first turn warms up
                times[k].append(middle - begin)
                times[2 + k].append(time.perf_counter() - middle)
    pymluops.uninstall("deformable_attention")
    figures = []
    for with_kernel, without in (times[:2], times[2:]):
        ratios = [one / other for one, other in zip(with_kernel, without, strict=True)]
        figures += [statistics.median(with_kernel), statistics.median(without), statistics.median(ratios)]
    return figures


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the networks and print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks.attention_models", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name", nargs="*", default=list(MODELS), help=f"of {', '.join(MODELS)}")
    parser.add_argument("--picture", type=int, nargs=2, default=(480, 640), metavar="N", help="height and width")
    parser.add_argument("--rounds", type=int, default=5, help="turns that count (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args(argv)
    if unknown := set(args.name) - set(MODELS):
        parser.error(f"{', '.join(sorted(unknown))}: expected {', '.join(MODELS)}")
    importlib.import_module("torch")
    set_all_threads(args.threads)
    height, width = args.picture
    print(f"{'':16}" + "".join(f"{title:>11}" for title in _HEAD))
    for name in args.name:
        figures = measure(MODELS[name], height, width, args.rounds)
        print(f"{name:16}" + "".join(f"{figure:11.2f}" for figure in figures), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
