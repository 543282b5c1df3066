"""Drawing the pictures of a run. Needs matplotlib; nothing here touches a display or matplotlib's global state."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from pymluops._whole_file import whole_file
from pymluops.demo.images import Image
from pymluops.demo.pictures_image import attention_figure, border_figure, frame_figure
from pymluops.demo.pictures_objects import object_figure
from pymluops.demo.pictures_scan import SIDES, Side, interpolation_figure, site_figure
from pymluops.demo.pipeline import DemoRun

STYLE: dict[Any, Any] = {
    "font.size": 11,
    "axes.titlesize": 12,
    "figure.titlesize": 14,
    "savefig.dpi": 110,
    "text.parse_math": False,
}


def draw_all(run: DemoRun, image: Image, folder: Path, side: str, *, scan_too: bool) -> list[Path]:
    """Write one PNG a subject into the folder and return their paths. A subject whose operator failed has none.

    Without `scan_too` only the subjects of the picture are drawn.
    """
    paths = []
    with mpl.rc_context(mpl.rcParamsDefault), mpl.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # a file name in letters that the font lacks
        for name, figure in _figures(run, image, SIDES[side], scan_too):
            path = folder / f"{name}.png"
            with whole_file(path) as file:
                figure.savefig(file, pil_kwargs={"compress_level": 4})  # the usual 6 takes most of the time
            paths.append(path)
    return paths


def _figures(run: DemoRun, image: Image, side: Side, scan_too: bool) -> Iterator[tuple[str, Figure]]:
    sparse = run.sparse
    if scan_too and sparse.submanifold.result is not None and sparse.strided.result is not None:
        yield "get_indice_pairs", site_figure(sparse, side)
    if scan_too and sparse.interpolated is not None:
        yield "three_interpolate", interpolation_figure(sparse, sparse.interpolated, side)
    objects = run.objects
    if scan_too and objects.complete:
        yield "objects", object_figure(objects, side)
    masks = run.attention
    if masks.collect is not None and masks.distribute is not None:
        yield "psamask", attention_figure(masks.attention, masks.collect, masks.distribute, image)
    if run.borders.result is not None:
        yield "border_align", border_figure(run.borders.task, *run.borders.result, image)
    if run.frames.shifted is not None:
        yield "tin_shift", frame_figure(run.frames.task, run.frames.shifted, image)
