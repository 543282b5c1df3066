"""Which scan and which picture a run uses."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from pymluops.demo.images import Image, read_image
from pymluops.demo.lidar import modelled_scan
from pymluops.demo.range_view import View, range_view
from pymluops.demo.scans import Scan, read_scan

PHOTOGRAPHS = (
    ("sklearn", "datasets/images/china.jpg"),
    ("skimage", "data/coffee.png"),
    ("matplotlib", "mpl-data/sample_data/grace_hopper.jpg"),
)
"""Photographs that widespread packages ship. Nothing is shipped or downloaded for the demo itself."""


def choose_scan(path: Path | None, columns: int | None) -> Scan:
    """Return the scan in the file, or the modelled one."""
    return modelled_scan() if path is None else read_scan(path, columns)


def choose_image(path: Path | None, scan: Scan, view: View) -> Image:
    """Return the picture in the file, else a scan of the user's own as a picture, else a photograph if there is one.

    A view that was chosen is shown, whatever photographs there are.
    """
    if path is not None:
        return read_image(path)
    photograph = installed_photograph() if scan.synthetic and view == View() else None
    if photograph is None or importlib.util.find_spec("PIL") is None:
        return range_view(scan, view)
    package, file = photograph
    image = read_image(file)
    return Image(f"{file.name} of the package {package}", image.pixels)


def installed_photograph() -> tuple[str, Path] | None:
    """Return the package and the path of the first photograph that is installed. No package is imported for it."""
    for package, name in PHOTOGRAPHS:
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            file = Path(folder, name)
            if file.is_file():
                return package, file
    return None
