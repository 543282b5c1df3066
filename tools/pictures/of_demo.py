"""What `pymluops demo` draws, smaller: operators on a photograph and on a synthetic street scan."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

WIDTH, QUALITY = 800, 78


def draw(folder: Path) -> None:
    """Run the demo and keep its pictures as small JPEGs."""
    with tempfile.TemporaryDirectory() as made:
        subprocess.run([sys.executable, "-m", "pymluops", "demo", "--plot", made], check=True, capture_output=True)
        for path in sorted(Path(made).glob("*.png")):
            with Image.open(path) as large:
                picture = large.convert("RGB")
            height = round(picture.height * WIDTH / picture.width)
            small = picture.resize((WIDTH, height), Image.Resampling.LANCZOS)
            small.save(folder / f"{path.stem}.jpg", quality=QUALITY, optimize=True)
