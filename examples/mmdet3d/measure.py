"""Measure networks of mmdet3d and mmdet, a step of training and a prediction: docs/models.md.

    python3 examples/mmdet3d/measure.py                     # all networks; made scenes and pictures
    python3 examples/mmdet3d/measure.py SECOND --scan 000008.bin
    python3 examples/mmdet3d/measure.py "Mask R-CNN" --picture 480 640

Seconds are by the clock; in brackets stands the time of the processor, both threads together, which
other programs of a busy machine change less. A step that is not counted goes before the others.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import detectors
import networks
import numpy as np
import openmmlab
import torch
from detect import own_scene

import pymluops
from pymluops.cli import CommandError

#: What is measured, in the order of the columns.
PARTS = ("forward", "backward", "update", "prediction")

Times = dict[str, list[tuple[float, float]]]


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    known = [*networks.NETWORKS, *detectors.NETWORKS]
    parser.add_argument("name", nargs="*", default=known, help="networks, or configs of mmdet3d")
    parser.add_argument("--scan", type=Path, metavar="FILE", help="your scan; default: a made one for each network")
    parser.add_argument(
        "--picture", type=int, nargs=2, default=(480, 640), metavar="N", help="height and width (default: 480 640)"
    )
    parser.add_argument("--repeats", type=int, default=3, help="steps that are counted (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="of PyTorch and pymluops (default: %(default)s)")
    args = parser.parse_args(argv)
    if min(args.repeats, args.threads, *args.picture) < 1:
        parser.error("--picture, --repeats and --threads: expected numbers from 1")
    return args


def timed(function: Callable[[], Any], times: list[tuple[float, float]]) -> Any:
    """Call a function and keep its seconds, by the clock and of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    result = function()
    times.append((time.perf_counter() - clock, time.process_time() - processor))
    return result


def measure(network: openmmlab.Built, data: dict[str, Any], repeats: int) -> Times:
    """Return the times of each part, without those of the first step."""
    times: Times = {part: [] for part in PARTS}
    optimizer = torch.optim.AdamW(network.model.parameters(), lr=1e-4)
    for _ in range(repeats + 1):
        optimizer.zero_grad()
        total = timed(lambda: openmmlab.loss(network, data), times["forward"])
        timed(total.backward, times["backward"])
        timed(optimizer.step, times["update"])
        timed(lambda: openmmlab.predict(network, data), times["prediction"])
    return {part: values[1:] for part, values in times.items()}


def scenes_for(network: networks.Network, scan: Path | None, rng: np.random.Generator) -> list[Any]:
    """Return a scene, or two for a network that normalises over them; a scan gets the boxes of a made scene."""
    made = [networks.make_scene(network, rng) for _ in range(1 + network.segments)]
    if scan is None:
        return made
    own = own_scene(scan)
    return [dataclasses.replace(own, boxes=one.boxes) for one in made]


def prepare(name: str, args: argparse.Namespace) -> tuple[openmmlab.Built, dict[str, Any], str]:
    """Return a network, a batch for it, and the size of the batch in words."""
    rng = np.random.default_rng(1)
    if name in detectors.NETWORKS:
        detector = detectors.build(name)
        height, width = args.picture
        return detector, detectors.batch(detector, rng, height, width), f"{height} x {width}"
    network = networks.build(name)
    data = networks.batch(network, scenes_for(network, args.scan, rng), rng)
    return network, data, f"{sum(map(len, data['inputs']['points'])):,} points"


def main(argv: list[str] | None = None) -> None:
    """Print a row for each network."""
    args = arguments(argv)
    torch.set_num_threads(args.threads)
    pymluops.set_num_threads(args.threads)
    print(f"| network | input | {' | '.join(PARTS)} |\n| --- | --- |{' --- |' * len(PARTS)}", flush=True)
    for name in args.name:
        network, data, size = prepare(name, args)
        times = measure(network, data, args.repeats)
        cells = [
            "{:.2f} ({:.2f})".format(*(statistics.median(column) for column in zip(*times[part], strict=True)))
            for part in PARTS
        ]
        print(f"| {name} | {size} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    try:
        main()
    except CommandError as error:
        print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
