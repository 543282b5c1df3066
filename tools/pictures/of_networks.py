"""What the example networks draw after training, smaller; needs PyTorch."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from pictures.of_demo import shrink

NETWORKS = Path(__file__).resolve().parents[2] / "examples" / "networks"
NAMES = ("borderdet", "deformable_detr", "pointnet2", "psanet", "second", "tin")


def draw(folder: Path) -> None:
    """Train each network for the time that its script takes and keep its picture."""
    (folder / "examples").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        for name in NAMES:
            picture = Path(made, f"{name}.png")
            command = [sys.executable, str(NETWORKS / f"{name}.py"), "--plot", str(picture)]
            subprocess.run(command, check=True, capture_output=True)
            shrink(picture, folder / "examples" / f"{name}.jpg")
