"""A process that runs cases: one line of JSON for each, and one for its result."""

from __future__ import annotations

import json
import os
import sys

from pymluops import gencase
from pymluops.gencase.result import Outcome, Result

__all__ = ["READY", "main"]

#: The first line of a process: from here on the time of cases counts.
READY = "ready\n"


def main() -> int:
    """Run the cases that standard input names, until it ends."""
    library, against = sys.argv[1:3]
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not come between the answers
    answers.write(READY)
    answers.flush()
    for line in sys.stdin:
        path = json.loads(line)
        answers.write(json.dumps(_run(path, library, against).to_json()) + "\n")
        answers.flush()
    return 0


def _run(path: str, library: str, against: str) -> Result:
    """Run one case; a file that cannot be read is an error of it alone."""
    try:
        return gencase.read(path).run(library, against)
    except (gencase.CaseError, OSError, MemoryError, ImportError) as error:
        return Result(path, "", library, against, Outcome.ERROR, message=str(error) or type(error).__name__)


if __name__ == "__main__":
    sys.exit(main())
