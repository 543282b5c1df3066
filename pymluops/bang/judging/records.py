"""Verdicts in files: lines of JSON as they come, JUnit XML, and a table."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

from pymluops._shown import path_text
from pymluops._whole_file import whole_file
from pymluops.bang.judging.verdict import Kind, Verdict
from pymluops.errors import BadParamError

__all__ = ["Records", "table_of", "write_junit"]

#: Of a text that XML cannot hold.
_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: Kinds of verdicts that are no failures of a test, but errors.
_ERRORS = frozenset({Kind.TASK_ERROR, Kind.CRASH, Kind.TIME_LIMIT, Kind.MEMORY_LIMIT, Kind.OUTPUT_LIMIT})
#: The columns of the table, and the kinds that each counts.
_COLUMNS: dict[str, tuple[Kind, ...]] = {
    "right": (Kind.RIGHT,),
    "with findings": (Kind.FINDINGS,),
    "wrong": (Kind.WRONG,),
    "fault": (Kind.FAULT,),
    "limit": (Kind.TIME_LIMIT, Kind.MEMORY_LIMIT, Kind.OUTPUT_LIMIT),
    "crash": (Kind.CRASH,),
    "not compiled": (Kind.COMPILE_ERROR,),
    "refused": (Kind.REFUSED,),
    "task error": (Kind.TASK_ERROR,),
}


class Records:
    """A file with a verdict in each line, which is there as soon as it is known; use it in a ``with`` statement.

    Parameters
    ----------
    path : Path
        The file.
    resume : bool
        Whether verdicts that it has already are kept. A line that was not written to its end is
        dropped. If not, the file begins anew.

    Attributes
    ----------
    known : dict of str to Verdict
        The verdicts that are kept, by their keys.

    Raises
    ------
    BadParamError
        If a line of a file to resume is no verdict.
    OSError
        If the file cannot be read or written.
    """

    def __init__(self, path: Path, *, resume: bool = False) -> None:
        self.known: dict[str, Verdict] = {}
        self._path = path
        size = self._read(path) if resume and path.is_file() else 0
        self._file: IO[bytes] = path.open("r+b" if size else "wb")
        self._file.truncate(size)
        self._file.seek(size)

    def _read(self, path: Path) -> int:
        """Read the verdicts, and return how many bytes they have."""
        size = 0
        for number, line in enumerate(path.read_bytes().splitlines(keepends=True), 1):
            if not line.endswith(b"\n"):
                break
            try:
                verdict = Verdict.from_json(json.loads(line))
            except (LookupError, TypeError, ValueError):
                raise BadParamError(f"{path_text(path)}:{number}: expected a verdict to resume with") from None
            self.known[verdict.key] = verdict
            size += len(line)
        return size

    def add(self, verdict: Verdict) -> None:
        """Write a verdict."""
        self._file.write(_line(verdict))
        self._file.flush()

    def keep_only(self, verdicts: Iterable[Verdict]) -> None:
        """Make the file anew with these verdicts, all at once: without those of kernels that changed or went away."""
        if not self._path.is_file():  # a pipe has no earlier lines
            return
        with whole_file(self._path) as whole:
            whole.write_bytes(b"".join(map(_line, verdicts)))

    def __enter__(self) -> Records:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def _line(verdict: Verdict) -> bytes:
    return json.dumps(verdict.to_json(), allow_nan=False).encode() + b"\n"


def write_junit(path: Path, verdicts: Sequence[Verdict]) -> None:
    """Write verdicts as JUnit XML: a suite for each task, a case for each kernel."""
    root = ET.Element("testsuites", name="pymluops kernel judge")
    for task in dict.fromkeys(verdict.task for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict.task == task]
        failed = [verdict for verdict in own if not verdict.is_right]
        suite = ET.SubElement(
            root, "testsuite", name=_in_xml(task), tests=str(len(own)),
            failures=str(sum(verdict.kind not in _ERRORS for verdict in failed)),
            errors=str(sum(verdict.kind in _ERRORS for verdict in failed)),
            time=f"{sum(verdict.seconds for verdict in own):.3f}",
        )  # fmt: skip
        for verdict in own:
            _case(suite, verdict)
    ET.indent(root)
    with whole_file(path) as whole:
        ET.ElementTree(root).write(whole, encoding="utf-8", xml_declaration=True)


def _case(suite: ET.Element, verdict: Verdict) -> None:
    case = ET.SubElement(
        suite, "testcase", classname=_in_xml(verdict.task), name=_in_xml(verdict.name), time=f"{verdict.seconds:.3f}"
    )
    if not verdict.is_right:
        what = "error" if verdict.kind in _ERRORS else "failure"
        element = ET.SubElement(case, what, type=verdict.kind.value, message=_in_xml(verdict.message))
        element.text = _in_xml(str(verdict))
    if verdict.text or verdict.is_right:
        ET.SubElement(case, "system-out").text = _in_xml("\n".join(filter(None, (str(verdict), verdict.text))))


def _in_xml(text: str) -> str:
    return _NOT_IN_XML.sub("?", text)


def table_of(verdicts: Iterable[Verdict]) -> str:
    """Return how many kernels of each task got which verdict; columns without any are left out."""
    counts: dict[str, Counter[Kind]] = {}
    total: Counter[Kind] = Counter()
    for verdict in verdicts:
        counts.setdefault(verdict.task, Counter())[verdict.kind] += 1
        total[verdict.kind] += 1
    columns = {name: kinds for name, kinds in _COLUMNS.items() if name == "right" or any(total[kind] for kind in kinds)}
    rows = [["task", "kernels", *columns]]
    for task, own in [*sorted(counts.items()), ("all", total)]:
        rows.append([task, str(own.total()), *(str(sum(own[kind] for kind in kinds)) for kinds in columns.values())])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows)
