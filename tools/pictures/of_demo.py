"""What `pymluops demo` draws, smaller: operators on a photograph and on a synthetic street scan."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

WIDTH, QUALITY = 800, 78
#: The part of the picture of objects that the README shows: its lower half.
_LOWER = 0.525


def draw(folder: Path) -> None:
    """Run the demo and keep its pictures as small JPEGs."""
    with tempfile.TemporaryDirectory() as made:
        subprocess.run([sys.executable, "-m", "pymluops", "demo", "--plot", made], check=True, capture_output=True)
        for path in sorted(Path(made).glob("*.png")):
            shrink(path, folder / f"{path.stem}.jpg")
        shrink(Path(made, "objects.png"), folder / "scan.jpg", top=_LOWER)


def shrink(path: Path, small: Path, top: float = 0) -> None:
    """Write a picture as a small JPEG, without what is above the share `top` of its height."""
    with Image.open(path) as large:
        picture = large.convert("RGB").crop((0, round(top * large.height), large.width, large.height))
    height = round(picture.height * WIDTH / picture.width)
    picture.resize((WIDTH, height), Image.Resampling.LANCZOS).save(small, quality=QUALITY, optimize=True)
