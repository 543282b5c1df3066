"""``pymluops demo``: the command line of the demo."""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pymluops.cli import CommandError

if TYPE_CHECKING:
    from pymluops.demo.images import Image
    from pymluops.demo.pipeline import DemoRun

DESCRIPTION = """\
Run all five operator families on a LiDAR scan and a picture, check every result against NumPy and time it.
Without --scan a modelled street scan is used. Without --image a photograph that an installed package ships is used,
or the scan seen from the sensor. The exit code is 0 only if every check held.
"""
NO_TERMINAL_WIDTH = 10_000


def register(subparsers: Any) -> None:
    """Add the ``demo`` subcommand."""
    parser = subparsers.add_parser(
        "demo", help="run every operator family on real input and check it", description=DESCRIPTION, allow_abbrev=False
    )
    parser.add_argument("--scan", type=Path, metavar="FILE", help="a scan: .bin (raw float32 rows), .npy or .ply")
    parser.add_argument(
        "--columns", type=_columns, metavar="N", help="values in a row of a .bin scan; guessed when not given"
    )
    parser.add_argument("--image", type=Path, metavar="FILE", help="a picture: .ppm, .npy, or with Pillow .png, .jpg")
    parser.add_argument("--backend", metavar="NAME", help="cpu, sim, mlu or the path of a shared library")
    parser.add_argument("--threads", type=_threads, metavar="N", help="threads of the CPU library")
    parser.add_argument("--plot", type=Path, metavar="DIR", help="write pictures into this folder")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of the table")
    parser.set_defaults(run=run)


def _columns(text: str) -> int:
    return _number(text, 3, 64)


def _threads(text: str) -> int:
    return _number(text, 1, 1024)


def _number(text: str, low: int, high: int) -> int:
    if not (text.isascii() and text.isdecimal() and low <= int(text[:9]) <= high):
        raise argparse.ArgumentTypeError(f"expected a number from {low} to {high}, got {text!r}")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Run the demo and print its report."""
    from pymluops.demo.pipeline import STEPS, run_demo
    from pymluops.demo.progress import Progress
    from pymluops.demo.sources import choose_image, choose_scan

    start = time.perf_counter()
    if args.columns is not None and args.scan is None:
        raise CommandError("--columns needs --scan")
    if args.plot is not None:
        _prepare_folder(args.plot)
    backend = _select_backend(args.backend, args.threads)
    with Progress(2 + STEPS + (1 if args.plot else 0), "demo") as progress:
        progress.step("the scan")
        scan = choose_scan(args.scan, args.columns)
        progress.step("the picture")
        image = choose_image(args.image, scan)
        result = run_demo(scan, image, progress)
        pictures = []
        if args.plot is not None:
            progress.step("drawing")
            pictures = _draw(result, image, args.plot)
    _print_report(result, image, backend, time.perf_counter() - start, pictures, as_json=args.json)
    return 0 if result.ok else 1


def _prepare_folder(folder: Path) -> None:
    """Make sure that pictures can be drawn and written, before anything takes time."""
    from pymluops.demo.errors import InputError, MissingPackageError

    if importlib.util.find_spec("matplotlib") is None:
        raise MissingPackageError("--plot", "matplotlib")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise InputError(folder, f"cannot be made a folder: {getattr(error, 'strerror', None) or error}") from error


def _select_backend(name: str | None, threads: int | None) -> dict[str, Any]:
    import pymluops
    from pymluops.info import default_backend, describe_backend

    if threads is not None:
        pymluops.set_num_threads(threads)
    if name is None:
        return describe_backend(default_backend())
    try:
        return describe_backend(pymluops.use(name).backend)
    except pymluops.MluOpError as error:
        raise CommandError(f"--backend {name}: {error}") from error


def _draw(result: DemoRun, image: Image, folder: Path) -> list[str]:
    import logging

    from pymluops.demo.errors import InputError

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it reports where it puts its cache of fonts
    from pymluops.demo.pictures import draw_all

    try:
        return [str(path) for path in draw_all(result, image, folder)]
    except OSError as error:
        raise InputError(folder, f"cannot write pictures: {error.strerror or error}") from error


def _print_report(
    result: DemoRun, image: Image, backend: dict[str, Any], seconds: float, pictures: list[str], *, as_json: bool
) -> None:
    from pymluops.demo import report

    if as_json:
        print(json.dumps(report.document(result, image, backend, seconds, pictures), indent=2, allow_nan=False))
        return
    on_terminal = sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if on_terminal else NO_TERMINAL_WIDTH
    print(report.heading(result, image, backend), end="\n\n")
    print(report.table(result.rows, width), end="\n\n")
    print(report.summary(result, seconds, pictures))
