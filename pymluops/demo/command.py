"""``pymluops demo``: the command line of the demo."""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pymluops._colours import coloured
from pymluops._shown import shortened
from pymluops.cli import CommandError

if TYPE_CHECKING:
    from pymluops.demo.images import Image
    from pymluops.demo.pipeline import DemoRun
    from pymluops.demo.range_view import View

DESCRIPTION = """\
Run get_indice_pairs and three_interpolate on a LiDAR scan, find its objects with voxelization, ball_query, nms3d and
boxes_iou3d, run psamask, border_align and tin_shift on a picture, check every result against NumPy and time it.
Without --scan a synthetic street scan is used (a model, not a measurement). Without --image the scan seen from the
sensor is the picture; without both, a photograph that an installed package ships, if there is one. The exit code is
0 only if every check held.
"""
UNITS = """\
Coordinates are in metres, x forward, y left, z up; angles are in degrees. The size of the voxels is the smallest
of 1, 2, 5 times a power of ten at which a voxel holds two points on average. 150,000 points are used at the
most: of a longer scan every n-th, which the report says. Points with NaN or infinite values are left out. Pictures
are brought down to 768 pixels. With --image alone --plot draws the picture's subjects only.
"""
NO_TERMINAL_WIDTH = 10_000
MAX_METRES = 1e8


def register(subparsers: Any) -> None:
    """Add the ``demo`` subcommand."""
    parser = subparsers.add_parser(
        "demo",
        help="run eight operator families on a scan and a picture and check them",
        description=DESCRIPTION,
        epilog=UNITS,
        allow_abbrev=False,
    )
    given = parser.add_argument_group("what it runs on")
    given.add_argument(
        "--scan", type=Path, metavar="FILE",
        help="a scan in metres: .bin (raw float32 rows, KITTI and nuScenes .pcd.bin), .npy, or with plyfile .ply",
    )  # fmt: skip
    given.add_argument(
        "--columns", type=_columns, metavar="N",
        help="values in a row of a .bin scan, from 3 to 64; default: guessed, 5 for .pcd.bin",
    )  # fmt: skip
    given.add_argument(
        "--image", type=Path, metavar="FILE", help="a picture: .npy, or with Pillow .png, .jpg, .ppm and others"
    )
    seen = parser.add_argument_group("the scan as a picture, where there is no --image")
    seen.add_argument(
        "--heading", type=_degrees, metavar="DEG",
        help="direction of its middle, from -360 to 360: 0 along x, 90 along y; default: where most points are",
    )  # fmt: skip
    seen.add_argument(
        "--fov",
        type=_fov,
        metavar="DEG",
        help="how wide it is, from 1 to 360; default: what the points need, 20 to 100",
    )
    seen.add_argument(
        "--elevation", type=_degrees, nargs=2, metavar=("LOW", "HIGH"),
        help="from where to where it reaches, from -90 to 90, 0 is level; default: what 99 %% of the points need",
    )  # fmt: skip
    seen.add_argument(
        "--eye", type=_metres, nargs=3, metavar=("X", "Y", "Z"),
        help="where it is seen from, in metres; default: 0 0 0 if the points lie around that, else their middle",
    )  # fmt: skip
    how = parser.add_argument_group("how it runs")
    how.add_argument(
        "--backend",
        metavar="NAME",
        help="cpu, sim, mlu or the path of a shared library; default: PYMLUOPS_BACKEND, else cpu",
    )
    how.add_argument(
        "--threads", type=_threads, metavar="N",
        help="threads of the CPU library, from 1 to 1024; default: the CPUs that the process may use",
    )  # fmt: skip
    output = parser.add_argument_group("what comes out")
    output.add_argument("--plot", type=Path, metavar="DIR", help="write pictures into this folder (needs matplotlib)")
    output.add_argument(
        "--view", choices=("top", "front", "side"),
        help="from where --plot draws the scan: from above (x, y), along x (y, z) or along y (x, z); default: top",
    )  # fmt: skip
    output.add_argument("--json", action="store_true", help="print one JSON document instead of the table")
    parser.set_defaults(run=run)


def _columns(text: str) -> int:
    return _number(text, 3, 64)


def _threads(text: str) -> int:
    return _number(text, 1, 1024)


def _number(text: str, low: int, high: int) -> int:
    if not (text.isascii() and text.isdecimal() and low <= int(text[:9]) <= high):
        raise argparse.ArgumentTypeError(f"expected a number from {low} to {high}, got {shortened(text, 40)!r}")
    return int(text)


def _degrees(text: str) -> float:
    return _real(text, -360, 360)


def _fov(text: str) -> float:
    return _real(text, 1, 360)


def _metres(text: str) -> float:
    return _real(text, -MAX_METRES, MAX_METRES)


def _real(text: str, low: float, high: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not low <= value <= high:
        raise argparse.ArgumentTypeError(f"expected a number from {low:g} to {high:g}, got {shortened(text, 40)!r}")
    return value


def _view(args: argparse.Namespace) -> View:
    """Return the chosen view; refuse options that exclude each other."""
    from pymluops.demo.range_view import View

    chosen = [f"--{name}" for name in ("heading", "fov", "elevation", "eye") if getattr(args, name) is not None]
    if chosen and args.image is not None:
        raise CommandError(f"{chosen[0]} is for the scan as a picture, which --image replaces")
    elevation = None if args.elevation is None else (args.elevation[0], args.elevation[1])
    if elevation is not None and not -90 <= elevation[0] < elevation[1] <= 90:
        raise CommandError(f"--elevation: expected -90 <= LOW < HIGH <= 90, got {elevation[0]:g} {elevation[1]:g}")
    return View(args.heading, args.fov, elevation, None if args.eye is None else tuple(args.eye))


def run(args: argparse.Namespace) -> int:
    """Run the demo and print its report."""
    from pymluops._progress import Progress
    from pymluops.demo.pipeline import STEPS, run_demo
    from pymluops.demo.sources import choose_image, choose_scan

    start = time.perf_counter()
    if args.columns is not None and args.scan is None:
        raise CommandError("--columns needs --scan")
    if args.view is not None and args.plot is None:
        raise CommandError("--view needs --plot")
    view = _view(args)
    if args.plot is not None:
        _prepare_folder(args.plot)
    backend = _select_backend(args.backend, args.threads)
    with Progress(2 + STEPS + (1 if args.plot else 0), "demo") as progress:
        progress.step("the scan")
        scan = choose_scan(args.scan, args.columns)
        progress.step("the picture")
        image = choose_image(args.image, scan, view)
        result = run_demo(scan, image, progress)
        pictures = []
        if args.plot is not None:
            progress.step("drawing")
            pictures = _draw(result, image, args)
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


def _draw(result: DemoRun, image: Image, args: argparse.Namespace) -> list[str]:
    """Draw the inputs; a generated scan is not drawn beside the user's own picture."""
    import logging

    from pymluops.demo.errors import InputError

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it reports where it puts its cache of fonts
    from pymluops.demo.pictures import draw_all

    scan_too = args.scan is not None or args.image is None
    try:
        return [str(path) for path in draw_all(result, image, args.plot, args.view or "top", scan_too=scan_too)]
    except OSError as error:
        raise InputError(args.plot, f"cannot write pictures: {error.strerror or error}") from error


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
    print(coloured(report.table(result.rows, width), sys.stdout), end="\n\n")
    print(report.summary(result, seconds, pictures))
