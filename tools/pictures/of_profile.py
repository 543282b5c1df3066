"""A photograph of the page that `pymluops kernel profile --html` writes."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

KERNEL = Path(__file__).resolve().parents[2] / "examples" / "tutorial" / "pipeline.mlu"
ARGUMENTS = "--entry saxpy --dim 48 --type union1 --arg a=2 --arg x=f32[1000000] --arg y=f32[1000000]"
FURTHER = "--arg out=f32[1000000] --arg n=1000000"
WIDTH, HEIGHT, SHOWN = 1100, 760, 800


def draw(folder: Path) -> None:
    """Profile the kernel of the tutorial and photograph the page."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        raise SystemExit("profile: expected the browser chromium on PATH, there is none")
    with tempfile.TemporaryDirectory() as made:
        page, photograph = Path(made, "profile.html"), Path(made, "profile.png")
        command = [sys.executable, "-m", "pymluops", "kernel", "profile", str(KERNEL), *ARGUMENTS.split()]
        subprocess.run([*command, *FURTHER.split(), "--html", str(page)], check=True, capture_output=True)
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={WIDTH},{HEIGHT}"]
        taken = [browser, *options, f"--user-data-dir={made}/user", f"--screenshot={photograph}", page.as_uri()]
        subprocess.run(taken, check=True, capture_output=True, timeout=120)
        with Image.open(photograph) as large:
            small = large.convert("RGB").resize((SHOWN, round(SHOWN * HEIGHT / WIDTH)), Image.Resampling.LANCZOS)
        small.quantize(64).save(folder / "profile.png", optimize=True)
