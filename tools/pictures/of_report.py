"""A kernel with a fault, and beside the broken line what the checkers say about it."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

from matplotlib.figure import Figure

KERNEL = Path(__file__).resolve().parents[2] / "examples" / "tutorial" / "broken_sync.mlu"
ARGUMENTS = "--entry saxpy --dim 8 --type union1 --arg a=2 --arg x=f32[20000]=range --arg y=f32[20000]=ones"
FURTHER = "--arg out=f32[20000] --arg n=20000"


def draw(folder: Path) -> None:
    """Check the kernel and draw its source and the first finding side by side."""
    command = [sys.executable, "-m", "pymluops", "kernel", "check", KERNEL.name, *ARGUMENTS.split(), *FURTHER.split()]
    said = subprocess.run(command, cwd=KERNEL.parent, capture_output=True, text=True, check=False).stdout
    found = re.search(r"^  (\S+):(\d+): error: (\S+): (.*)\n    the other access: \S+:(\d+)", said, re.MULTILINE)
    step = re.search(r"^    next: (.*)", said, re.MULTILINE)
    if found is None:
        raise SystemExit(f"pymluops kernel check found nothing in {KERNEL.name}: {said}")
    _draw(folder / "report.png", int(found[2]), int(found[5]), found[3], found[4], step[1] if step else "")


def _rows(source: list[str]) -> list[tuple[int, str]]:
    """Return the lines of a source with their numbers; long ones go on in further rows, between words."""
    return [
        (number, row)
        for number, text in enumerate(source, 1)
        for row in textwrap.wrap(text, 58, subsequent_indent="      ", drop_whitespace=False) or [""]
    ]


def _draw(path: Path, line: int, other: int, rule: str, message: str, step: str) -> None:
    rows = _rows(KERNEL.read_text(encoding="utf-8").splitlines())
    figure = Figure(figsize=(8.6, 4.6), dpi=100, facecolor="#1e1e24")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 100), ylim=(len(rows) + 2.0, -1.6))
    axes.axis("off")
    axes.text(1.5, -0.7, f"$ pymluops kernel check {KERNEL.name} ...", color="#9cdcfe", family="monospace", size=10)
    for place, (number, text) in enumerate(rows, 1):
        colour = {line: "#ff6b6b", other: "#ffd166"}.get(number)
        if colour:
            axes.axhspan(place - 0.35, place + 0.65, xmax=0.63, color=colour, alpha=0.18)
        is_first = place == 1 or rows[place - 2][0] != number
        shown = f"{number if is_first else '':3}  {text}"
        axes.text(1.5, place + 0.3, shown, color=colour or "#c8c8c8", family="monospace", size=8.6)
    words = re.sub(r"at 0x[0-9a-f]+, ", "", message)
    box = [f"{KERNEL.name}:{line}: error", rule, "", *textwrap.wrap(words, 32), "", f"the other access: line {other}"]
    box += ["", *textwrap.wrap(f"next: {step}", 32)] if step else []
    broken = next(place for place, (number, _) in enumerate(rows, 1) if number == line)
    axes.annotate(
        "\n".join(box),
        xy=(62.5, broken + 0.15),
        xytext=(65, 1.6),
        va="top",
        color="#f0f0f0",
        family="monospace",
        size=8.6,
        bbox={"boxstyle": "round,pad=0.7", "facecolor": "#3a2226", "edgecolor": "#ff6b6b"},
        arrowprops={"arrowstyle": "-", "color": "#ff6b6b"},
    )
    figure.savefig(path)
