"""Run a network of mmdetection3d on a scan without a GPU, and draw what it finds.

    python3 examples/mmdet3d/detect.py    # SECOND learns a made street, then finds its cars
    python3 examples/mmdet3d/detect.py --config PV-RCNN --train 5
    python3 examples/mmdet3d/detect.py --config second_hv_secfpn_8xb6-80e_kitti-3d-3class \\
        --checkpoint second.pth --scan 000008.bin --plot cars.png

Without weights of a checkpoint, and with few steps, a network knows nothing: its boxes show that it
runs. docs/models.md says what to install and how long a step takes.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from pictures import draw_boxes, draw_classes

from pymluops._shown import counted
from pymluops.cli import CommandError
from pymluops.demo.errors import InputError
from pymluops.demo.scans import read_scan


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--config", default="SECOND", metavar="NAME", help="a config of mmdet3d, or a network's name")
    parser.add_argument("--scan", type=Path, metavar="FILE", help="your scan (.bin, .npy, .ply); default: a made one")
    parser.add_argument("--checkpoint", type=Path, metavar="FILE", help="weights, as mmdetection3d offers them")
    parser.add_argument(
        "--train", type=int, metavar="STEPS", help="learn a made scene first (30 steps without a checkpoint)"
    )
    parser.add_argument("--score", type=float, default=0.3, help="draw boxes from this score on (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of weights and scene (default: %(default)s)")
    parser.add_argument("--plot", type=Path, metavar="FILE", default=Path("boxes.png"), help="default: %(default)s")
    args = parser.parse_args(argv)
    if args.train is None:
        args.train = 0 if args.checkpoint else 30
    if args.train < 0:
        parser.error(f"--train: expected a number of steps from 0, got {args.train}")
    if args.plot.suffix.lower() != ".png":
        parser.error(f"--plot: expected a name that ends in .png, got {str(args.plot)!r}")
    return args


def load_weights(network: Any, path: Path) -> None:
    """Read a checkpoint: tensors only, no code of the file runs."""
    import torch

    try:
        held = torch.load(path, map_location="cpu", weights_only=True)
        network.model.load_state_dict(held.get("state_dict", held))
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from error
    except Exception as error:
        raise InputError(path, f"holds no weights of this network: {str(error).splitlines()[0]}") from error


def own_scene(path: Path) -> Any:
    """Return the user's scan as a scene without boxes."""
    from scenes import Scene

    scan = read_scan(path)
    xyz = np.ascontiguousarray(scan.xyz, np.float32)
    return Scene(xyz, np.full(len(xyz), -1), np.zeros((0, 7), np.float32), scan.extras)


def show_progress(step: int, steps: int, value: float, seconds: float) -> None:
    """Print a line for ten steps of the run, and keep one on a terminal up to date."""
    text = f"step {step:4d} of {steps}   loss {value:.4f}   {seconds / step:.2f} s a step"
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="\n" if step == steps else "", file=sys.stderr, flush=True)
    elif step % max(1, steps // 10) == 0 or step == steps:
        print(text, flush=True)


def corners(boxes: Any) -> Any:
    """Return the corners [K, 4, 2] of boxes seen from above."""
    middle, size, heading = np.split(boxes.bev.numpy(), [2, 4], axis=1)
    offset = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]) * size[:, None]
    cos, sin = np.cos(heading), np.sin(heading)
    turned = np.stack([offset[..., 0] * cos - offset[..., 1] * sin, offset[..., 0] * sin + offset[..., 1] * cos], -1)
    return middle[:, None] + turned


def show_classes(path: Path, title: str, network: Any, xyz: Any, sample: Any, seconds: float) -> None:
    """Print how many points have a label, and draw them."""
    labels = sample.pred_pts_seg.pts_semantic_mask.numpy()
    draw_classes(path, title, xyz, labels, network.class_names)
    print(f"{counted(len(labels), 'point', form=',')} labelled in {seconds:.2f} s; classes: {len(np.unique(labels))}")


def show_boxes(
    args: argparse.Namespace, title: str, network: Any, xyz: Any, instances: Any, truth: Any, seconds: float
) -> None:
    """Print the boxes of a good score, and draw them."""
    kept = instances[instances.scores_3d >= args.score]
    boxes = counted(len(kept), "box", "boxes")
    print(f"{boxes} of score {args.score:g} or more, of {len(instances)}, in {seconds:.2f} s")
    if not len(kept):
        print("  none: take weights of a checkpoint, train for more steps, or lower --score")
    for box, label, score in zip(kept.bboxes_3d.tensor, kept.labels_3d, kept.scores_3d, strict=True):
        x, y, _, length, width, *_ = (f"{float(value):.1f}" for value in box)
        print(f"  {network.class_names[int(label)]} {float(score):.2f} at ({x}, {y}) m, {length} x {width} m")
    draw_boxes(args.plot, title, xyz, corners(kept.bboxes_3d), None if truth is None else corners(truth))


def main(argv: list[str] | None = None) -> None:
    """Train if asked, predict, draw."""
    args = arguments(argv)
    try:
        import networks
        import openmmlab

        network = networks.build(args.config, args.seed)
    except ModuleNotFoundError as error:
        raise CommandError(f"no module named {error.name!r}: docs/models.md says what to install") from error
    if args.checkpoint:
        load_weights(network, args.checkpoint)
    own = own_scene(args.scan) if args.scan else None
    rng = np.random.default_rng(args.seed)
    scene = networks.make_scene(network, rng)
    data = networks.batch(network, [scene], rng)
    begin = time.perf_counter()
    for step, value in enumerate(openmmlab.train(network, data, args.train), 1):
        show_progress(step, args.train, value, time.perf_counter() - begin)
    if own is not None:
        scene = own
        data = networks.batch(network, [scene], rng)
    begin = time.perf_counter()
    sample = openmmlab.predict(network, data)[0]
    seconds = time.perf_counter() - begin
    given = data["inputs"]["points"][0][:, :3].numpy()  # some networks take a sample of the scan
    title = f"{args.config}, {len(given):,} points"
    if network.segments:
        show_classes(args.plot, title, network, given, sample, seconds)
    else:
        truth = data["data_samples"][0].gt_instances_3d.bboxes_3d if own is None else None
        show_boxes(args, title, network, scene.xyz, sample.pred_instances_3d, truth, seconds)
    print(f"picture: {args.plot}")


if __name__ == "__main__":
    try:
        main()
    except CommandError as error:
        print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
