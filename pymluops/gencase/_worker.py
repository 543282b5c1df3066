"""A process that runs cases: each line of standard input is the path of one.

It answers with lines of JSON, each an object with one of these keys: ``ready`` once, or ``refused``
with the reason why it cannot run any case; then, for each case, ``begun``, ``operator`` as soon as
its name is known, ``computing`` with the name of each library or the oracle, and ``result``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from pymluops import gencase, load
from pymluops._processes import end_with, own_channels
from pymluops.gencase._messages import node_class
from pymluops.gencase._run import FILE, ORACLE, run_case
from pymluops.gencase.result import Outcome, Result

__all__ = ["main"]


def main() -> int:
    """Run the cases that standard input names, until it ends."""
    library, against, parent = sys.argv[1:4]
    end_with(int(parent))
    # A library that reads or prints must not come between the lines.
    questions, answers = own_channels()

    def answer(key: str, value: Any = True) -> None:
        answers.write(json.dumps({key: value}) + "\n")
        answers.flush()

    try:
        _prepare(library, against)
    except Exception as error:
        answer("refused", f"{type(error).__name__}: {error}")
        return 1
    answer("ready")
    own = os.getpid()
    for line in questions:
        answer("begun")
        result = _run(json.loads(line), library, against, answer)
        if os.getpid() != own:  # a library forked, and this is the child
            os._exit(0)
        answer("result", result.to_json())
    return 0


def _prepare(*libraries: str) -> None:
    """Load what all cases need."""
    node_class()
    for library in libraries:
        if library not in (ORACLE, FILE):
            load(library)


def _run(path: str, library: str, against: str, answer: Callable[[str, str], None]) -> Result:
    """Run one case; whatever it raises is an error of it alone."""
    operator = ""
    try:
        case = gencase.read(path)
        operator = case.op_name
        answer("operator", operator)
        return run_case(case, library, against, lambda part: answer("computing", part))
    except Exception as error:
        return Result(path, operator, library, against, Outcome.ERROR, message=_said(error))


def _said(error: Exception) -> str:
    """Return the message of an error, with its type where the text alone does not say enough."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, (gencase.CaseError, OSError, ImportError)) and text:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
