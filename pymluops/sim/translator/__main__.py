"""The command line of the translator."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .text import TranslationError
from .translation import translate


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="translator", description="Translates BANG C into C++.")
    parser.add_argument("source", type=Path, metavar="SOURCE")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="the C++ file to write")
    parser.add_argument("--name", help="name of the source in messages and debug information; default: SOURCE")
    options = parser.parse_args(arguments)
    name = options.name or str(options.source)
    try:
        # Bytes that are not UTF-8, and the ends of lines, stay unchanged.
        with options.source.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
            result = translate(file.read(), name)
        options.output.parent.mkdir(parents=True, exist_ok=True)
        with options.output.open("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(result)
    except TranslationError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
