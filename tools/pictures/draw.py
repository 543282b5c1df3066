#!/usr/bin/env python3
"""Draw the pictures that the README and the documentation show, into docs/pictures.

    python3 tools/pictures/draw.py [NAME...]

It needs the installed package with the extra ``demo`` and a C++ compiler; ``profile`` needs the
browser chromium too, which photographs the page, and ``networks`` PyTorch. Names are demo, report,
profile, speed and networks; all of them if none is given. The photograph is the portrait of Grace
Hopper that matplotlib ships, by the United States Navy, in the public domain; the scan is the
synthetic one of ``pymluops demo``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT)]

from pictures import of_demo, of_networks, of_profile, of_report, of_speed  # noqa: E402

FOLDER = ROOT / "docs" / "pictures"
DRAW: dict[str, Callable[[Path], None]] = {
    "demo": of_demo.draw,
    "report": of_report.draw,
    "profile": of_profile.draw,
    "speed": of_speed.draw,
    "networks": of_networks.draw,
}


def main() -> int:
    """Draw what the arguments name."""
    parser = argparse.ArgumentParser(description="Draw the pictures of the README and of the documentation.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(DRAW))
    names: list[str] = parser.parse_args().names or list(DRAW)
    unknown = [name for name in names if name not in DRAW]
    if unknown:
        parser.error(f"NAME: expected one of {', '.join(DRAW)}, got {unknown[0]!r}")
    FOLDER.mkdir(exist_ok=True)
    for name in names:
        DRAW[name](FOLDER)
    return 0


if __name__ == "__main__":
    sys.exit(main())
